#include <vector>

#include "recpack/base/error.h"
#include "src/train/cuda/context.h"
#include "src/train/cuda/kernels.h"

namespace recpack {
namespace {

class CudaBatchNorm final : public BatchNorm {
 public:
  CudaBatchNorm(Ops& ops, CudaContext& context, const BatchNormSpec& spec)
      : ops_(ops),
        context_(context),
        spec_(spec),
        shape_{spec.batch, spec.channels, spec.height * spec.width, spec.type, spec.layout},
        channels_(static_cast<size_t>(spec.channels)),
        // So that each array begins where vectors may.
        stride_((channels_ + 63) / 64 * 64),
        constants_(kConstants * stride_ * sizeof(float)) {
    if (spec.type != ValueType::kF32 && spec.type != ValueType::kBf16) {
      throw Error(ErrorKind::kUnsupported, "batch normalisation is of f32 or bf16");
    }
    context.Reserve(NormPartials(shape_) * sizeof(float));
  }

  void Train(const BatchNormVariables& variables, const void* x, const void* residual,
             void* y) override {
    const NormSlices sums = LaunchNormSums(shape_, x, variables.running_mean, partial(), stream());
    const Whole whole = OverDevices(sums);
    LaunchNormStatistics(whole.sums, whole.count, spec_.epsilon, spec_.momentum, variables,
                         folded(), stream());
    Apply(x, residual, y);
  }

  void Infer(const BatchNormVariables& variables, const void* x, const void* residual,
             void* y) override {
    LaunchNormRunning(static_cast<uint32_t>(channels_), spec_.epsilon, variables, folded(),
                      stream());
    Apply(x, residual, y);
  }

  void Backward(const BatchNormVariables& variables, void* dy, const void* dy_more, const void* x,
                const void* y, void* dx, void* d_residual, float* d_scale,
                float* d_shift) override {
    if (!spec_.fused) {
      if (dy_more) ops_.Add(Picture(const_cast<void*>(dy_more)), Picture(dy));
      if (spec_.relu) {
        ops_.ActivateBackward(Activation::kRelu, Picture(const_cast<void*>(y)), Picture(dy),
                              Picture(dy));
      }
      if (spec_.residual && d_residual != dy) ops_.Copy(d_residual, dy, Picture(dy).bytes());
      dy_more = nullptr;
    }
    NormMask mask = NormMask::kAll;
    if (spec_.fused && spec_.relu) {
      mask = spec_.residual ? NormMask::kFromY : NormMask::kFromX;
    }
    // Where it is not dy alone, or needed as the residual's gradient, g is kept.
    void* g = nullptr;
    if (spec_.fused && (spec_.residual || dy_more)) g = spec_.residual ? d_residual : dy;
    const NormFolded constants = folded();
    const NormSlices sums = LaunchNormGradientSums(
        shape_,
        {dy, dy_more, x, y, constants.factor, constants.term, constants.mean, g, nullptr, nullptr},
        mask, partial(), stream());
    const NormGradients dx_of = {nullptr, nullptr, At(kOfG), At(kOfX), At(kConstant)};
    if (spec_.sum_over_devices) {
      // The variables' gradients are of this device's samples, dx is of all.
      LaunchNormGradients(sums, 1, variables.scale, constants,
                          {d_scale, d_shift, nullptr, nullptr, nullptr}, stream());
      const Whole whole = OverDevices(sums);
      LaunchNormGradients(whole.sums, whole.count, variables.scale, constants, dx_of, stream());
    } else {
      LaunchNormGradients(sums, OwnCount(), variables.scale, constants,
                          {d_scale, d_shift, dx_of.of_g, dx_of.of_x, dx_of.constant}, stream());
    }
    const void* from = g ? g : dy;
    if (g) mask = NormMask::kAll;
    LaunchNormGradientApply(
        shape_,
        {from, x, dx, constants.factor, constants.term, dx_of.of_g, dx_of.of_x, dx_of.constant},
        mask, stream());
  }

 private:
  // Arrays of constants by channel; the last is of two sums each.
  enum Constant : size_t {
    kMean,
    kInverseStd,
    kFactor,
    kTerm,
    kOfG,
    kOfX,
    kConstant,
    kSums,
    kConstants = kSums + 2
  };
  struct Whole {
    NormSlices sums;
    double count;
  };

  float* At(Constant constant) const { return constants_.As<float>() + constant * stride_; }
  NormFolded folded() const { return {At(kMean), At(kInverseStd), At(kFactor), At(kTerm)}; }
  float* partial() const { return context_.Workspace<float>(); }
  cudaStream_t stream() const { return context_.stream(); }
  double OwnCount() const { return static_cast<double>(shape_.batch * shape_.plane); }
  Tensor Picture(void* data) const {
    return {
        data, spec_.type, {spec_.batch, spec_.channels, spec_.height, spec_.width}, spec_.layout};
  }

  // The sums of all devices: the hook takes them on the host, so this waits where there is one.
  Whole OverDevices(const NormSlices& own) {
    if (!spec_.sum_over_devices) return {own, OwnCount()};
    float* sums = At(kSums);
    LaunchNormTotals(own, sums, sums + channels_, stream());
    std::vector<float> all(2 * channels_ + 1);
    ops_.Download(all.data(), sums, 2 * channels_ * sizeof(float));
    all.back() = static_cast<float>(OwnCount());
    spec_.sum_over_devices(all.data(), all.size());
    ops_.Upload(sums, all.data(), 2 * channels_ * sizeof(float));
    return {{sums, 1, static_cast<uint32_t>(channels_)}, all.back()};
  }

  void Apply(const void* x, const void* residual, void* y) {
    LaunchNormApply(shape_, {x, spec_.fused ? residual : nullptr, y, At(kFactor), At(kTerm)},
                    spec_.fused && spec_.relu, stream());
    if (spec_.fused) return;
    if (residual) ops_.Add(Picture(const_cast<void*>(residual)), Picture(y));
    if (spec_.relu) ops_.Activate(Activation::kRelu, Picture(y), Picture(y));
  }

  Ops& ops_;
  const CudaContext& context_;
  const BatchNormSpec spec_;
  const ByChannel shape_;
  const size_t channels_, stride_;
  CudaArray constants_;
};

}  // namespace

std::unique_ptr<BatchNorm> MakeCudaBatchNorm(Ops& ops, CudaContext& context,
                                             const BatchNormSpec& spec) {
  return std::make_unique<CudaBatchNorm>(ops, context, spec);
}

}  // namespace recpack
