#include <vector>

#include "src/train/cuda/context.h"
#include "src/train/cuda/kernels/kernels.h"
#include "src/train/ops/norm_passes.h"

namespace recpack::train {
namespace {

class CudaBatchNorm final : public NormPasses {
 public:
  CudaBatchNorm(Ops& ops, CudaContext& context, const BatchNormSpec& spec)
      : NormPasses(ops, spec),
        context_(context),
        shape_{spec.batch, spec.channels, spec.height * spec.width, spec.type, spec.layout},
        channels_(static_cast<size_t>(spec.channels)),
        // Aligns each array for vector access.
        stride_((channels_ + 63) / 64 * 64),
        constants_(kConstants * stride_ * sizeof(float)) {
    context.Reserve(NormPartials(shape_) * sizeof(float));
  }

  void Train(const BatchNormVariables& variables, const void* x, const void* residual,
             void* y) override {
    // As on the CPU: from the batch alone, or, if all devices must use the same shift, the running
    // mean, which is equal on all.
    const float* shift = variables.running_mean;
    if (!spec_.sum_over_devices) {
      LaunchNormFirst(shape_, x, At(kShift), stream());
      shift = At(kShift);
    }
    const NormSlices sums = LaunchNormSums(shape_, x, shift, partial(), stream());
    const Whole whole = OverDevices(sums);
    LaunchNormStatistics(whole.sums, whole.count, shift, spec_.epsilon, spec_.momentum, variables,
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
    const Gradient gradient = Prepare(dy, dy_more, y, d_residual);
    const NormFolded constants = folded();
    const NormSlices sums =
        LaunchNormGradientSums(shape_,
                               {dy, gradient.more, x, y, constants.factor, constants.term,
                                constants.mean, gradient.g, nullptr, nullptr},
                               gradient.mask, partial(), stream());
    const NormGradients dx_of = {nullptr, nullptr, At(kOfG), At(kOfX), At(kConstant)};
    if (spec_.sum_over_devices) {
      // The variables' gradients cover this device's samples, dx all devices'.
      LaunchNormGradients(sums, 1, variables.scale, constants,
                          {d_scale, d_shift, nullptr, nullptr, nullptr}, stream());
      const Whole whole = OverDevices(sums);
      LaunchNormGradients(whole.sums, whole.count, variables.scale, constants, dx_of, stream());
    } else {
      LaunchNormGradients(sums, OwnCount(), variables.scale, constants,
                          {d_scale, d_shift, dx_of.of_g, dx_of.of_x, dx_of.constant}, stream());
    }
    LaunchNormGradientApply(shape_,
                            {gradient.from, x, dx, constants.factor, constants.term, dx_of.of_g,
                             dx_of.of_x, dx_of.constant},
                            gradient.last, stream());
  }

 private:
  // Arrays of per-channel constants; the last one holds two sums per channel.
  enum Constant : size_t {
    kMean,
    kInverseStd,
    kFactor,
    kTerm,
    kOfG,
    kOfX,
    kConstant,
    kShift,
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
  // Sums over all devices. The hook takes sums on the host, so this waits if there is one.
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
    LaunchNormApply(shape_, {x, Fused(residual), y, At(kFactor), At(kTerm)}, fused_relu(),
                    stream());
    Complete(residual, y);
  }

  const CudaContext& context_;
  const ByChannel shape_;
  const size_t channels_, stride_;
  CudaArray constants_;
};

}  // namespace

std::unique_ptr<BatchNorm> MakeCudaBatchNorm(Ops& ops, CudaContext& context,
                                             const BatchNormSpec& spec) {
  return std::make_unique<CudaBatchNorm>(ops, context, spec);
}

}  // namespace recpack::train
