// Matrix products by cuBLASLt.
#pragma once

#include <cstdint>
#include <optional>

#include "recpack/loader/array_spec.h"
#include "src/train/cuda/context.h"
#include "src/train/cuda/descriptors.h"

namespace recpack::train {

// D = op(A) op(B) in cuBLAS's column-major order, where a row-major array appears transposed. D is
// (m, n) and the inner size is k; A is (m, k), or transposed (k, m); B is (k, n), or transposed (n,
// k).
struct MatrixProductSpec {
  int64_t m = 0, n = 0, k = 0;
  bool transposed_a = false, transposed_b = false;
  ElementType in = ElementType::kF32;   // of A and B
  ElementType out = ElementType::kF32;  // of D and the vector
  // Operation with a vector: CUBLASLT_EPILOGUE_BIAS adds it, per row of D; CUBLASLT_EPILOGUE_BGRADB
  // sets it to the sums of B over k, per column of D.
  cublasLtEpilogue_t vector = CUBLASLT_EPILOGUE_DEFAULT;
};

// The algorithm is chosen once: the first of cuBLASLt's heuristics that is deterministic.
// Accumulates in f32. Made and used like all operations of `context`, on either stream.
class MatrixProduct {
 public:
  // Throws Error: kUnsupported if cuBLASLt has no algorithm for these types and sizes.
  MatrixProduct(CudaContext& context, const MatrixProductSpec& spec);

  // Returns false if cuBLASLt has no such product with the vector; Run() then ignores it.
  bool with_vector() const noexcept { return extended_ && extended_->found; }

  // Enqueues the product. `vector`: may be null.
  void Run(const void* a, const void* b, void* d, const void* vector) const;

 private:
  template <typename Handle>
  using Descriptor = CudaDescriptor<Handle, cublasStatus_t>;
  using Layout = Descriptor<cublasLtMatrixLayout_t>;
  // An algorithm, with or without the vector.
  struct Way {
    Descriptor<cublasLtMatmulDesc_t> operation;
    cublasLtMatmulAlgo_t algorithm = {};
    size_t workspace = 0;
    bool found = false;
  };

  Layout MakeLayout(ElementType type, int64_t rows, int64_t columns) const;
  Way Choose(CudaContext& context, const MatrixProductSpec& spec, cublasLtEpilogue_t vector) const;
  std::optional<Way> ChooseExtended(CudaContext& context, const MatrixProductSpec& spec) const;

  const CudaContext& context_;
  const decltype(CudaLibraries::cublas)& blas_;
  const Layout a_, b_, d_;
  const Way plain_;
  const std::optional<Way> extended_;
};

}  // namespace recpack::train
