#include "src/train/cuda/bias.h"

#include <vector>

namespace recpack::train {

CudaBias::CudaBias(CudaContext& context, const ByChannel& shape)
    : context_(context), shape_(shape), ones_(static_cast<size_t>(shape.channels) * sizeof(float)) {
  const std::vector<float> ones(static_cast<size_t>(shape.channels), 1.0F);
  Check(cudaMemcpyAsync(ones_.data(), ones.data(), ones.size() * sizeof(float),
                        cudaMemcpyHostToDevice, context.stream()),
        "cudaMemcpyAsync");
  Check(cudaStreamSynchronize(context.stream()), "cudaStreamSynchronize");
  context.ReserveOnEither(NormPartials(shape) * sizeof(float));
}

void CudaBias::Add(const float* bias, void* y) const {
  LaunchNormApply(shape_, {y, nullptr, y, ones_.As<float>(), bias}, false, context_.stream());
}

void CudaBias::Gradient(const void* dy, float* d_bias) const {
  const NormSlices sums =
      LaunchNormSums(shape_, dy, nullptr, context_.Workspace<float>(), context_.stream());
  LaunchNormTotals(sums, d_bias, nullptr, context_.stream());
}

}  // namespace recpack::train
