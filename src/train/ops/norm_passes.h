// What batch normalisation is around its passes, on every device.
#pragma once

#include "recpack/kernels/batch_norm.h"
#include "src/train/ops/ops.h"

namespace recpack::train {

class NormPasses : public BatchNorm {
 protected:
  // Throws Error (kUnsupported) for other types than f32 and bf16. `ops` has to outlive it.
  NormPasses(Ops& ops, const BatchNormSpec& spec);

  // The gradient behind ReLU and addition, g, as the passes of Backward() make and read it.
  struct Gradient {
    const void* more = nullptr;      // added to dy
    NormMask mask = NormMask::kAll;  // of dy + more
    void* g = nullptr;               // where it is kept; null: dy and the mask are it
    const void* from = nullptr;      // what the last pass reads
    NormMask last = NormMask::kAll;  // its mask
  };
  // Does what is not fused.
  Gradient Prepare(void* dy, const void* dy_more, const void* y, void* d_residual);

  // Of y, that the pass wrote: addition and ReLU where they are not fused. `residual` as given.
  void Complete(const void* residual, void* y);

  // What the pass itself is to add, and whether it is to apply ReLU.
  const void* Fused(const void* residual) const { return spec_.fused ? residual : nullptr; }
  bool fused_relu() const { return spec_.fused && spec_.relu; }

  Ops& ops_;
  const BatchNormSpec spec_;

 private:
  Tensor Whole(const void* data) const;
};

}  // namespace recpack::train
