// Batch normalisation steps around the main passes, shared by all backends.
#pragma once

#include "kernels/batch_norm.h"
#include "src/train/ops/ops.h"

namespace recpack::train {

class NormPasses : public BatchNorm {
 protected:
  // Throws Error (kUnsupported) for types other than f32 and bf16. `ops` must outlive this object.
  NormPasses(Ops& ops, const BatchNormSpec& spec);

  // The gradient g before ReLU and residual addition, as the passes of Backward() compute and read
  // it.
  struct Gradient {
    const void* more = nullptr;      // added to dy
    NormMask mask = NormMask::kAll;  // applied to dy + more
    void* g = nullptr;               // where g is stored; null: g is dy with the mask
    const void* from = nullptr;      // input of the last pass
    NormMask last = NormMask::kAll;  // mask of the last pass
  };
  // Runs the parts of the backward pass that are not fused.
  Gradient Prepare(void* dy, const void* dy_more, const void* y, void* d_residual);

  // Applies residual addition and ReLU to y, if they are not fused. `residual`: as given to the
  // pass.
  void Complete(const void* residual, void* y);

  // The residual and ReLU that the fused pass itself applies.
  const void* Fused(const void* residual) const { return spec_.fused ? residual : nullptr; }
  bool fused_relu() const { return spec_.fused && spec_.relu; }

  Ops& ops_;
  const BatchNormSpec spec_;

 private:
  Tensor Whole(const void* data) const;
};

}  // namespace recpack::train
