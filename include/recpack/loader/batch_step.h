// Operations on a complete batch, run by the worker that finishes it before the consumer gets it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "recpack/base/random.h"
#include "recpack/loader/array_spec.h"

namespace recpack {

// View of a batch, valid during a call.
class BatchView {
 public:
  BatchView(const std::vector<ArraySpec>& arrays, uint8_t* slab, KeyedRandom generator)
      : random(generator), arrays_(arrays), slab_(slab) {}

  uint64_t epoch = 0;
  uint64_t position = 0;  // of the batch's first sample in the epoch, over all ranks
  uint32_t size = 0;      // number of samples; may be 0 with LastBatch::kKeep
  std::span<const uint64_t> ids;
  std::span<const uint8_t> mask;
  KeyedRandom random;  // keyed by (seed, epoch, position) and the step's stream
  std::shared_ptr<void>
      memory;  // owns the arrays; after the call they are reused for other batches

  const std::vector<ArraySpec>& arrays() const noexcept { return arrays_; }
  // Throws Error (kInvalidArgument) if there is no array of that name.
  const ArraySpec& Spec(const std::string& name) const;
  // Returns the array's rows, contiguous: of `size` samples, unless it is ragged.
  uint8_t* Raw(const std::string& name) const { return slab_ + Spec(name).offset; }
  template <typename T>
  T* Data(const std::string& name) const {
    return reinterpret_cast<T*>(Raw(name));
  }
  // Returns the extent of the array's first dimension (ArrayRows).
  size_t Rows(const std::string& name) const;

 private:
  const std::vector<ArraySpec>& arrays_;
  uint8_t* slab_;
};

// torchvision's mixup and cutmix (references/classification/transforms.py): mixes each sample with
// the previous one of the batch, the first with the last. Labels become rows of class weights.
//
// The partners depend on the batch size and on the number of ranks: a run resumed with other values
// gets the same samples, mixed differently.
struct MixImages {
  // Must be finished on the host: u8, f16, bf16 or f32, with 1 to 4 channels and sides above 4
  // pixels.
  std::string image = "image";
  std::string label = "label";    // i64 or i32, one value per sample, below `classes`
  std::string target = "target";  // added array: f32, `classes` values; one-hot if unmixed
  uint32_t classes = 0;
  double mixup_alpha = 0;   // lambda ~ Beta(alpha, alpha); 0: no mixup
  double cutmix_alpha = 0;  // 0: no cutmix. With both, each gets half of the mixed batches
  double probability = 1;   // of mixing a batch
  uint32_t stream = 0;      // steps with the same stream draw the same numbers; below 65536
};

// A user function on batches, and the arrays that it adds.
struct BatchFunction {
  std::vector<ArraySpec> arrays;  // may be empty
  // Called by several threads at once, each with its own batch. An exception reaches the consumer
  // nested in an Error that names the batch's epoch and position.
  std::function<void(BatchView&)> call;
  uint32_t stream = 0;
};

using BatchStep = std::variant<MixImages, BatchFunction>;

}  // namespace recpack
