// Arrays that a function of the user fills, sample by sample.
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
#include "recpack/loader/image_field.h"

namespace recpack {

// One sample, for the time of a call.
struct SampleView {
  const ExampleView& example;
  uint64_t id;  // the record's ordinal in the split
  uint64_t epoch;
  uint64_t position;              // in the epoch, over all ranks
  KeyedRandom random;             // by (seed, epoch, position) and the field's stream
  std::span<uint8_t* const> out;  // by array of the field: sample_bytes to be written, all of them
  PixelView picture;              // that of the field's `picture`, without gaps
};

struct FunctionField {
  std::vector<ArraySpec> arrays;  // at least one
  // Called by several threads at once. What it throws reaches the consumer with the record's place,
  // itself as the nested exception of an Error; an Error of kind kCorrupt may be substituted like a
  // bad record, others never. What it writes must be a function of what it is given, or batches are
  // not.
  std::function<void(SampleView&)> call;
  uint32_t stream = 0;  // functions with the same number draw the same numbers; below 65536
  // A picture that the function is given: cropped, resized, flipped and augmented as the field
  // says, in u8 with channels interleaved; name, type, layout, mean and std are not looked at.
  std::optional<ImageField> picture = {};
};

}  // namespace recpack
