// Fuzzes the parser of WAV files and the conversion of their samples: errors are fine; crashes and
// samples beyond the file are not.
#include <cstdlib>
#include <vector>

#include "recpack/audio/wav.h"
#include "recpack/base/error.h"

namespace recpack {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

void Fuzz(ByteView bytes) {
  WavSound sound;
  try {
    sound = ParseWav(bytes);
  } catch (const Error&) {
    return;
  }
  Require(DetectSoundFormat(bytes) == "WAV");
  const size_t frames = sound.frames;
  Require(sound.samples + frames * sound.channels * WavSampleBytes(sound.encoding) <=
          bytes.data() + bytes.size());
  std::vector<float> channels(frames * sound.channels), mean(frames);
  ReadWavChannels(sound, 0, frames, frames, channels.data());
  ReadWavMean(sound, 0, frames, mean.data());
  if (frames == 0) return;
  std::vector<float> last(sound.channels);
  ReadWavChannels(sound, frames - 1, 1, 1, last.data());
  for (size_t c = 0; c < last.size(); ++c) {
    const float whole = channels[c * frames + frames - 1];
    Require(whole == last[c] || (whole != whole && last[c] != last[c]));
  }
}

}  // namespace
}  // namespace recpack

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  recpack::Fuzz({data, size});
  return 0;
}
