#include "src/train/ops/norm_passes.h"

#include "recpack/base/error.h"

namespace recpack::train {

NormPasses::NormPasses(Ops& ops, const BatchNormSpec& spec) : ops_(ops), spec_(spec) {
  if (spec.type != ElementType::kF32 && spec.type != ElementType::kBf16) {
    throw Error(ErrorKind::kUnsupported, "batch normalisation supports f32 and bf16 only");
  }
}

NormPasses::Gradient NormPasses::Prepare(void* dy, const void* dy_more, const void* y,
                                         void* d_residual) {
  if (!spec_.fused) {
    if (dy_more) ops_.Add(Whole(dy_more), Whole(dy));
    if (spec_.relu) {
      ops_.ActivateBackward(Activation::kRelu, Whole(y), Whole(dy), Whole(dy));
    }
    if (spec_.residual && d_residual != dy) ops_.Copy(d_residual, dy, Whole(dy).bytes());
    return {.from = dy};
  }
  Gradient gradient{.more = dy_more, .from = dy};
  if (spec_.relu) gradient.mask = spec_.residual ? NormMask::kFromY : NormMask::kFromX;
  gradient.last = gradient.mask;
  // Stored if it differs from dy, or if it is also the residual's gradient.
  if (spec_.residual || dy_more) {
    gradient.g = spec_.residual ? d_residual : dy;
    gradient.from = gradient.g;
    gradient.last = NormMask::kAll;
  }
  return gradient;
}

void NormPasses::Complete(const void* residual, void* y) {
  if (spec_.fused) return;
  if (residual) ops_.Add(Whole(residual), Whole(y));
  if (spec_.relu) ops_.Activate(Activation::kRelu, Whole(y), Whole(y));
}

Tensor NormPasses::Whole(const void* data) const {
  return {const_cast<void*>(data),
          spec_.type,
          {spec_.batch, spec_.channels, spec_.height, spec_.width},
          spec_.layout};
}

}  // namespace recpack::train
