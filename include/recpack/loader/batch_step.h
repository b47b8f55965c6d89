// What is done to a whole batch, by the thread that finishes it, before the consumer sees it.
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

// One batch, for the time of a call.
class BatchView {
 public:
  BatchView(const std::vector<ArraySpec>& arrays, uint8_t* slab, KeyedRandom generator)
      : random(generator), arrays_(arrays), slab_(slab) {}

  uint64_t epoch = 0;
  uint64_t position = 0;  // in the epoch, over all ranks, of the batch's first sample
  uint32_t size = 0;      // samples there are; 0 on some ranks with LastBatch::kKeep
  std::span<const uint64_t> ids;
  std::span<const uint8_t> mask;
  KeyedRandom random;            // by (seed, epoch, position) and the step's stream
  std::shared_ptr<void> memory;  // of the arrays; what they hold is another batch's after the call

  const std::vector<ArraySpec>& arrays() const noexcept { return arrays_; }
  // Of the array; throws Error (kInvalidArgument) for a name that is not there.
  const ArraySpec& Spec(const std::string& name) const;
  // `size` samples of the array, one behind the other.
  uint8_t* Raw(const std::string& name) const { return slab_ + Spec(name).offset; }
  template <typename T>
  T* Data(const std::string& name) const {
    return reinterpret_cast<T*>(Raw(name));
  }

 private:
  const std::vector<ArraySpec>& arrays_;
  uint8_t* slab_;
};

// torchvision's mixup and cutmix (references/classification/transforms.py): each sample with the
// one before it in the batch, the first with the last. Labels become rows of shares.
//
// Partners depend on the batch size, and so a run that is resumed with another one goes on with the
// same samples but mixes them otherwise; so do other numbers of ranks.
struct MixImages {
  // Finished on the host: u8, f16, bf16 or f32, of 1 to 4 channels and more pixels than that.
  std::string image = "image";
  std::string label = "label";    // i64 or i32, one value a sample, below `classes`
  std::string target = "target";  // new: f32 of `classes` values, one-hot where nothing is mixed
  uint32_t classes = 0;
  double mixup_alpha = 0;   // lambda is drawn from Beta(alpha, alpha); 0: no mixup
  double cutmix_alpha = 0;  // 0: no cutmix. With both, half of the mixed batches get each
  double probability = 1;   // of mixing a batch at all
  uint32_t stream = 0;      // steps with the same number draw the same numbers; below 65536
};

// A function of the user, and the arrays that it adds.
struct BatchFunction {
  std::vector<ArraySpec> arrays;  // may be none
  // Called by several threads at once, each with a batch of its own. What it throws reaches the
  // consumer with the batch's epoch and position, itself as the nested exception of an Error.
  std::function<void(BatchView&)> call;
  uint32_t stream = 0;
};

using BatchStep = std::variant<MixImages, BatchFunction>;

}  // namespace recpack
