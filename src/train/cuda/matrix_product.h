// Products of matrices by cuBLASLt.
#pragma once

#include <cstdint>
#include <optional>

#include "recpack/loader/array_spec.h"
#include "src/train/cuda/context.h"
#include "src/train/cuda/descriptor.h"

namespace recpack::train {

// D = op(A) op(B), as cuBLAS has them: by columns, so that an array by rows is its transpose. D is
// (m, n), the inner size is k; A is (m, k), or transposed (k, m); B is (k, n), or transposed (n,
// k).
struct MatrixProductSpec {
  int64_t m = 0, n = 0, k = 0;
  bool transposed_a = false, transposed_b = false;
  ValueType in = ValueType::kF32;   // of A and B
  ValueType out = ValueType::kF32;  // of D and the vector
  // What is done with a vector besides: CUBLASLT_EPILOGUE_BIAS adds it, by row of D; of
  // CUBLASLT_EPILOGUE_BGRADB it becomes the sums of B over k, by column of D.
  cublasLtEpilogue_t vector = CUBLASLT_EPILOGUE_DEFAULT;
};

// How it is computed is chosen once, from cuBLASLt's heuristics: the first that gives the same bits
// each time. Sums are f32. Made and used as all operations of `context` are, on either stream.
class MatrixProduct {
 public:
  // Throws Error: kUnsupported where cuBLASLt has none of these types and sizes.
  MatrixProduct(CudaContext& context, const MatrixProductSpec& spec);

  // False: cuBLASLt has no such product with the vector, and Run() leaves it alone.
  bool with_vector() const noexcept { return extended_ && extended_->found; }

  // Enqueues it. `vector`: null where there is none, and then nothing is done with one.
  void Run(const void* a, const void* b, void* d, const void* vector) const;

 private:
  template <typename Handle>
  using Descriptor = CudaDescriptor<Handle, cublasStatus_t>;
  using Layout = Descriptor<cublasLtMatrixLayout_t>;
  // With the vector or without.
  struct Way {
    Descriptor<cublasLtMatmulDesc_t> operation;
    cublasLtMatmulAlgo_t algorithm = {};
    size_t workspace = 0;
    bool found = false;
  };

  Layout MakeLayout(ValueType type, int64_t rows, int64_t columns) const;
  Way Choose(CudaContext& context, const MatrixProductSpec& spec, cublasLtEpilogue_t vector) const;
  std::optional<Way> ChooseExtended(CudaContext& context, const MatrixProductSpec& spec) const;

  const CudaContext& context_;
  const decltype(CudaLibraries::cublas)& blas_;
  const Layout a_, b_, d_;
  const Way plain_;
  const std::optional<Way> extended_;
};

}  // namespace recpack::train
