// Field writer for sounds: decodes a part of a WAV file.
#include <algorithm>
#include <limits>

#include "recpack/audio/wav.h"
#include "recpack/base/error.h"
#include "recpack/loader/feature.h"
#include "src/base/format.h"
#include "src/loader/data/streams.h"
#include "src/loader/fields/field_writer.h"

namespace recpack {
namespace {

constexpr uint32_t kMostChannels = 65535;  // of a WAV file

class AudioWriter final : public FieldWriter {
 public:
  explicit AudioWriter(const AudioField& field) : field_(field) {
    if (field_.length == 0) {
      Refuse(format("audio field '{}' has no length", field_.name),
             "give the number of frames of each sound: seconds times frames per second");
    }
    if (field_.channels == 0 || field_.channels > kMostChannels) {
      Refuse(format("audio field '{}' has {} channels", field_.name, field_.channels),
             "give 1 for the mean of the files' channels, or their number");
    }
    if (field_.view >= kMostViews) {
      Refuse(format("audio field '{}' is view {}", field_.name, field_.view),
             format("views are numbered below {}", kMostViews));
    }
    if (uint64_t{field_.channels} * field_.length > std::numeric_limits<int32_t>::max()) {
      Refuse(format("audio field '{}' has {} channels of {} frames", field_.name, field_.channels,
                    field_.length),
             "take a shorter part of each sound");
    }
  }

  std::vector<ArraySpec> Arrays() const override {
    std::vector<uint32_t> shape = {field_.length};
    if (field_.channels > 1) shape.insert(shape.begin(), field_.channels);
    return {MakeArray(field_.name, ElementType::kF32, std::move(shape)),
            MakeArray(field_.name + "_length", ElementType::kI32, {})};
  }

  void Write(const SampleRecord& sample, SampleTools& tools,
             std::span<uint8_t* const> out) const override {
    const FeatureView& feature = Find(sample.example);
    const ByteView file = feature.bytes_values()[0];
    tools.Enter(Stage::kDecode, file.size());
    const WavSound sound = ParseWav(file);
    CheckSound(sound, feature.name());
    const auto frames = static_cast<uint32_t>(std::min<uint64_t>(sound.frames, field_.length));
    const uint64_t begin = ChooseBegin(sound.frames - frames, sample);
    auto* const samples = reinterpret_cast<float*>(out[0]);
    if (field_.channels == 1) {
      ReadWavMean(sound, begin, frames, samples);
    } else {
      ReadWavChannels(sound, begin, frames, field_.length, samples);
    }
    for (uint32_t c = 0; c < field_.channels; ++c) {
      float* const channel = samples + size_t{c} * field_.length;
      std::fill(channel + frames, channel + field_.length, 0.0F);
    }
    StoreLittleEndian(out[1], static_cast<int32_t>(frames));
    tools.sound = {.samples = samples,
                   .channels = field_.channels,
                   .length = field_.length,
                   .begin = begin,
                   .frames = frames,
                   .rate = sound.rate};
    tools.ResumeWriting();
  }

 private:
  const FeatureView& Find(const ExampleView& example) const {
    const FeatureView* feature = field_.feature.empty() ? FindSound(example) : nullptr;
    if (feature == nullptr) {
      feature = &RequireFeature(example, field_.feature.empty() ? "audio" : field_.feature);
    }
    if (feature->kind() != FeatureKind::kBytes || feature->size() != 1) {
      Refuse(format("feature '{}' holds {} values of kind {}, a sound is one of bytes",
                    feature->name(), feature->size(), FeatureKindName(feature->kind())),
             "name the feature of the field");
    }
    return *feature;
  }

  void CheckSound(const WavSound& sound, std::string_view feature) const {
    if (field_.channels != 1 && sound.channels != field_.channels) {
      Refuse(format("the sound in feature '{}' has {} channels, field '{}' takes {}", feature,
                    sound.channels, field_.name, field_.channels),
             "give the field as many, or 1 for the mean of all channels");
    }
    if (field_.rate != 0 && sound.rate != field_.rate) {
      Refuse(format("the sound in feature '{}' has {} frames per second, field '{}' takes {}",
                    feature, sound.rate, field_.name, field_.rate),
             "resample the files to one rate before packing, or take any rate (0)");
    }
  }

  // Returns the first frame of the part, which has `spare` frames less than the sound.
  uint64_t ChooseBegin(uint64_t spare, const SampleRecord& sample) const {
    if (spare == 0 || field_.crop == AudioCrop::kStart) return 0;
    if (field_.crop == AudioCrop::kCentre) return spare / 2;
    constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max() - 1;
    KeyedRandom random(sample.epoch_seed, ToStream(RandomStream::kAudio, field_.view),
                       sample.position);
    return random.NextBelow(static_cast<uint32_t>(std::min(spare, kMost)) + 1);
  }

  AudioField field_;
};

}  // namespace

std::unique_ptr<FieldWriter> MakeAudioWriter(const AudioField& field) {
  return std::make_unique<AudioWriter>(field);
}

}  // namespace recpack
