#include "recpack/base/error.h"
#include "src/train/cuda/bias.h"

namespace recpack {
namespace {

cudaDataType_t CublasType(ValueType type) {
  if (type == ValueType::kF32) return CUDA_R_32F;
  if (type == ValueType::kBf16) return CUDA_R_16BF;
  throw Error(ErrorKind::kUnsupported, "a dense layer is of f32 or bf16");
}

// An operand as cuBLAS sees it: by columns, `rows` values each. What we have by rows is its
// transpose.
struct Operand {
  const void* data;
  int rows;
  bool transposed;
};

class CudaDense final : public Dense {
 public:
  CudaDense(CudaContext& context, const DenseSpec& spec)
      : context_(context),
        spec_(spec),
        type_(CublasType(spec.type)),
        out_type_(CublasType(spec.out_type)),
        batch_(static_cast<int>(spec.batch)),
        in_(static_cast<int>(spec.in)),
        out_(static_cast<int>(spec.out)),
        bias_(context, {spec.batch, spec.out, 1, spec.out_type, ImageLayout::kNhwc}) {
    if (spec.type == ValueType::kF32 && spec.out_type != ValueType::kF32) {
      throw Error(ErrorKind::kUnsupported, "a dense layer of f32 has results of f32");
    }
    if (spec.type != ValueType::kF32) {
      weights_ = CudaArray(Weights(nullptr, spec.type).bytes());
    }
    if (spec.type != spec.out_type) dy_ = CudaArray(Gradient(nullptr, spec.type).bytes());
  }

  void SetWeights(const float* weights, const float* bias) override {
    bias_values_ = bias;
    used_weights_ = weights;
    if (spec_.type == ValueType::kF32) return;
    LaunchConvert(Weights(const_cast<float*>(weights), ValueType::kF32),
                  Weights(weights_.data(), spec_.type), context_.stream());
    used_weights_ = weights_.data();
  }

  void Forward(const void* x, void* y) override {
    Multiply({used_weights_, in_, true}, {x, in_, false}, out_, batch_, in_, y, out_type_);
    if (bias_values_) bias_.Add(bias_values_, y);
  }

  void BackwardData(const void* dy, void* dx) override {
    Multiply({used_weights_, in_, false}, {AsInput(dy), out_, false}, in_, batch_, out_, dx, type_);
  }

  void BackwardWeights(const void* x, const void* dy, float* d_weights, float* d_bias) override {
    Multiply({x, in_, false}, {AsInput(dy), out_, true}, in_, out_, batch_, d_weights, CUDA_R_32F);
    if (d_bias) bias_.Gradient(dy, d_bias);
  }

 private:
  Tensor Weights(void* data, ValueType type) const { return {data, type, {spec_.out, spec_.in}}; }
  Tensor Gradient(void* data, ValueType type) const {
    return {data, type, {spec_.batch, spec_.out}};
  }

  // dy in the type of x.
  const void* AsInput(const void* dy) {
    if (spec_.type == spec_.out_type) return dy;
    LaunchConvert(Gradient(const_cast<void*>(dy), spec_.out_type), Gradient(dy_.data(), spec_.type),
                  context_.stream());
    return dy_.data();
  }

  // `to`, m values by column and n columns, is the product of a and b, whose inner size is k.
  void Multiply(const Operand& a, const Operand& b, int m, int n, int k, void* to,
                cudaDataType_t to_type) const {
    const float one = 1, zero = 0;
    const bool tf32 = spec_.type == ValueType::kF32 && context_.tf32();
    const auto form = [](const Operand& operand) {
      return operand.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    };
    Check(context_.libraries(),
          context_.libraries().cublas.GemmEx(
              context_.cublas(), form(a), form(b), m, n, k, &one, a.data, type_, a.rows, b.data,
              type_, b.rows, &zero, to, to_type, m,
              tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
          "cublasGemmEx");
  }

  const CudaContext& context_;
  const DenseSpec spec_;
  const cudaDataType_t type_, out_type_;
  const int batch_, in_, out_;
  const CudaBias bias_;
  CudaArray weights_, dy_;
  const void* used_weights_ = nullptr;
  const float* bias_values_ = nullptr;
};

}  // namespace

std::unique_ptr<Dense> MakeCudaDense(CudaContext& context, const DenseSpec& spec) {
  return std::make_unique<CudaDense>(context, spec);
}

}  // namespace recpack
