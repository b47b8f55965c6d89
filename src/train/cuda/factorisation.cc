#include "src/train/cuda/context.h"
#include "src/train/cuda/kernels/kernels.h"

namespace recpack::train {
namespace {

class CudaFactorisation final : public Factorisation {
 public:
  CudaFactorisation(const CudaContext& context, const FactorisationSpec& spec)
      : context_(context),
        spec_(spec),
        sums_(static_cast<size_t>(spec.batch * spec.factors) * sizeof(float)) {}

  void Forward(const FactorisationArrays<const float>& variables, const void* first,
               const void* second, float* y) override {
    LaunchFactorisation(spec_, variables, first, second, sums_.As<float>(), y, context_.stream());
  }

  void Backward(const FactorisationArrays<const float>& variables, const void* first,
                const void* second, const float* dy, void* d_first, void* d_second,
                const FactorisationArrays<float>& gradients) override {
    LaunchFactorisationBackward(spec_, variables, first, second, sums_.As<float>(), dy, d_first,
                                d_second, gradients, context_.stream());
  }

 private:
  const CudaContext& context_;
  const FactorisationSpec spec_;
  CudaArray sums_;  // of factors[i][f] x_i: (batch, factors), from the last Forward()
};

}  // namespace

std::unique_ptr<Factorisation> MakeCudaFactorisation(CudaContext& context,
                                                     const FactorisationSpec& spec) {
  return std::make_unique<CudaFactorisation>(context, spec);
}

}  // namespace recpack::train
