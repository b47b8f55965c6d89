// Field whose arrays a user function fills for each sample.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "recpack/base/random.h"
#include "recpack/example/view.h"
#include "recpack/image/image.h"
#include "recpack/loader/array_spec.h"
#include "recpack/loader/audio_field.h"
#include "recpack/loader/image_field.h"

namespace recpack {

// Where a function's image comes from: what boxes and points of the sample must follow.
struct PictureCrop {
  // Rectangle of the source that became the image [pixels of the source, oriented as the field
  // says]; it reaches beyond the source where a crop was padded.
  double left = 0, top = 0, width = 0, height = 0;
  ImageSize source;
  bool flip = false;  // mirrored after that
};

// View of a sample, valid during a call.
struct SampleView {
  const ExampleView& example;
  uint64_t id;  // ordinal of the record in the split
  uint64_t epoch;
  uint64_t position;   // in the epoch, over all ranks
  KeyedRandom random;  // keyed by (seed, epoch, position) and the field's stream
  // Per array: sample_bytes to write, all of them. A ragged array has two: of its rows as many are
  // written as there are, and behind it is the i64 that tells how many.
  std::span<uint8_t* const> out;
  PixelView picture;  // made as the field's `picture` says, contiguous
  PictureCrop crop;   // of `picture`
  AudioPart audio;    // taken as the field's `audio` says
};

struct FunctionField {
  std::vector<ArraySpec> arrays;  // at least one; the loader adds the offsets of ragged ones
  // Called by several threads at once. An exception reaches the consumer nested in an Error with
  // the record's place. An Error of kind kCorrupt may be substituted like a bad record; other
  // exceptions never are. The output must be a function of the input only, otherwise batches are
  // not reproducible.
  std::function<void(SampleView&)> call;
  uint32_t stream = 0;  // functions with the same stream draw the same numbers; below 65536
  // Image passed to the function: cropped, resized, flipped and augmented as the field says, in u8
  // with interleaved channels. Ignores name, type, layout, mean and std.
  std::optional<ImageField> picture = {};
  // Sound passed to the function: the part that the field takes. Ignores its name.
  std::optional<AudioField> audio = {};
};

}  // namespace recpack
