#include "src/train/cuda/context.h"
#include "src/train/cuda/kernels/kernels.h"

namespace recpack::train {
namespace {

class CudaPooling final : public Pooling {
 public:
  CudaPooling(const CudaContext& context, const PoolingSpec& spec)
      : context_(context), spec_(spec) {
    if (spec.kind != PoolingKind::kMax) return;
    places_ = CudaArray(static_cast<size_t>(Elements(spec.out_shape())) * sizeof(uint32_t));
  }

  void Forward(const void* x, void* y) override {
    LaunchPooling(spec_, x, y, places_.As<uint32_t>(), context_.stream());
  }
  void Backward(const void* dy, void* dx) override {
    LaunchPoolingBackward(spec_, dy, places_.As<uint32_t>(), dx, context_.stream());
  }

 private:
  const CudaContext& context_;
  const PoolingSpec spec_;
  CudaArray places_;
};

}  // namespace

std::unique_ptr<Pooling> MakeCudaPooling(CudaContext& context, const PoolingSpec& spec) {
  return std::make_unique<CudaPooling>(context, spec);
}

}  // namespace recpack::train
