#include "recpack/base/error.h"
#include "src/train/cuda/bias.h"
#include "src/train/cuda/matrix_product.h"

namespace recpack::train {
namespace {

// cuBLAS sees row-major arrays transposed: y as (out, batch), x as (in, batch), the weights as (in,
// out).
class CudaDense final : public Dense {
 public:
  CudaDense(CudaContext& context, const DenseSpec& spec)
      : context_(context),
        spec_(Checked(spec)),
        forward_(context, {.m = spec.out,
                           .n = spec.batch,
                           .k = spec.in,
                           .transposed_a = true,
                           .in = spec.type,
                           .out = spec.out_type,
                           .vector = CUBLASLT_EPILOGUE_BIAS}),
        data_(context,
              {.m = spec.in, .n = spec.batch, .k = spec.out, .in = spec.type, .out = spec.type}),
        // f32 gradients of rounded values: the bias gradient sums dy after rounding.
        d_weights_(context, {.m = spec.in,
                             .n = spec.out,
                             .k = spec.batch,
                             .transposed_b = true,
                             .in = spec.type,
                             .vector = CUBLASLT_EPILOGUE_BGRADB}),
        bias_(context, {spec.batch, spec.out, 1, spec.out_type, ImageLayout::kNhwc}) {
    if (spec.type != ElementType::kF32) weights_ = CudaArray(Weights(nullptr, spec.type).bytes());
    if (spec.out_type != ElementType::kF32) {
      rounded_bias_ = CudaArray(BiasAs(nullptr, spec.out_type).bytes());
    }
    if (spec.type == spec.out_type) return;
    for (CudaArray* dy : {&dy_, &dy_of_weights_}) {
      *dy = CudaArray(Gradient(nullptr, spec.type).bytes());
    }
  }

  void SetWeights(const float* weights, const float* bias) override {
    bias_values_ = bias;
    added_bias_ = bias;
    used_weights_ = weights;
    if (bias && rounded_bias_.data()) {  // the bias needs the type of y
      LaunchConvert(BiasAs(const_cast<float*>(bias), ElementType::kF32),
                    BiasAs(rounded_bias_.data(), spec_.out_type), context_.stream());
      added_bias_ = rounded_bias_.data();
    }
    if (spec_.type == ElementType::kF32) return;
    LaunchConvert(Weights(const_cast<float*>(weights), ElementType::kF32),
                  Weights(weights_.data(), spec_.type), context_.stream());
    used_weights_ = weights_.data();
  }

  void Forward(const void* x, void* y) override {
    forward_.Run(used_weights_, x, y, added_bias_);
    if (bias_values_ && !forward_.with_vector()) bias_.Add(bias_values_, y);
  }

  void BackwardData(const void* dy, void* dx) override {
    data_.Run(used_weights_, AsInput(dy, dy_), dx, nullptr);
  }

  void BackwardWeights(const void* x, const void* dy, float* d_weights, float* d_bias) override {
    d_weights_.Run(x, AsInput(dy, dy_of_weights_), d_weights, d_bias);
    if (d_bias && !d_weights_.with_vector()) bias_.Gradient(dy, d_bias);
  }

 private:
  static const DenseSpec& Checked(const DenseSpec& spec) {
    if (spec.type == ElementType::kF32 && spec.out_type != ElementType::kF32) {
      throw Error(ErrorKind::kUnsupported, "a dense layer with f32 inputs must have f32 outputs");
    }
    return spec;
  }

  Tensor Weights(void* data, ElementType type) const { return {data, type, {spec_.out, spec_.in}}; }
  Tensor BiasAs(void* data, ElementType type) const { return {data, type, {spec_.out}}; }
  Tensor Gradient(void* data, ElementType type) const {
    return {data, type, {spec_.batch, spec_.out}};
  }

  // dy in the type of x. Weight and data gradients have a copy each, since they may be computed
  // concurrently.
  const void* AsInput(const void* dy, const CudaArray& copy) const {
    if (spec_.type == spec_.out_type) return dy;
    LaunchConvert(Gradient(const_cast<void*>(dy), spec_.out_type),
                  Gradient(copy.data(), spec_.type), context_.stream());
    return copy.data();
  }

  const CudaContext& context_;
  const DenseSpec spec_;
  const MatrixProduct forward_, data_, d_weights_;
  const CudaBias bias_;  // used where cuBLASLt has no epilogue for it
  CudaArray weights_, rounded_bias_, dy_, dy_of_weights_;
  const void* used_weights_ = nullptr;
  const void* added_bias_ = nullptr;
  const float* bias_values_ = nullptr;
};

}  // namespace

std::unique_ptr<Dense> MakeCudaDense(CudaContext& context, const DenseSpec& spec) {
  return std::make_unique<CudaDense>(context, spec);
}

}  // namespace recpack::train
