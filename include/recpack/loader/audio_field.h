// Audio field: the part of each sound that goes into a batch.
#pragma once

#include <cstdint>
#include <string>

namespace recpack {

// The part that is taken of a sound longer than the result. Shorter ones are padded with zeros.
enum class AudioCrop : uint8_t { kStart, kCentre, kRandom };

// A sound: a WAV file as ParseWav() takes it. The array is f32: of shape (length) if `channels` is
// 1, else (channels, length). Array NAME_length (i32) is the number of frames before the padding.
struct AudioField {
  std::string name = "audio";
  // Feature with the sound. Default: FindSound().
  std::string feature;
  uint32_t length = 0;  // of the result, at least 1 [frames: one sample of each channel]
  AudioCrop crop = AudioCrop::kStart;
  uint32_t channels = 1;  // 1: the mean of the file's channels; others: the file has as many
  // Frames per second that each file must have: sounds are not resampled. 0: any.
  uint32_t rate = 0;
  // Fields with the same view draw the same random numbers, and so the same part of sounds that are
  // of equal length; below 65520.
  uint32_t view = 0;
};

// A field's part of a sound, for a function.
struct AudioPart {
  const float* samples = nullptr;  // channels * length of them, channel after channel
  uint32_t channels = 0;
  uint32_t length = 0;  // of each channel, with the padding
  uint64_t begin = 0;   // first frame of the sound that is in the part
  uint32_t frames = 0;  // of the sound; zeros follow
  uint32_t rate = 0;    // frames per second
};

}  // namespace recpack
