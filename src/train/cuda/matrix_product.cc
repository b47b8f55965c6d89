#include "src/train/cuda/matrix_product.h"

#include <algorithm>
#include <array>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack::train {
namespace {

constexpr uint64_t kMostWorkspace = uint64_t{32} << 20;  // cuBLAS's recommendation for Hopper
constexpr int kCandidates = 16;
constexpr uintptr_t kAligned = 256;  // alignment of all our arrays

cudaDataType_t CublasType(ElementType type) {
  if (type == ElementType::kF32) return CUDA_R_32F;
  if (type == ElementType::kBf16) return CUDA_R_16BF;
  throw Error(ErrorKind::kUnsupported, "dense layers support f32 and bf16 only");
}

cublasComputeType_t ComputeType(const CudaContext& context, const MatrixProductSpec& spec) {
  const bool tf32 = spec.in == ElementType::kF32 && context.tf32();
  return tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

}  // namespace

MatrixProduct::MatrixProduct(CudaContext& context, const MatrixProductSpec& spec)
    : context_(context),
      blas_(context.libraries().cublas),
      a_(MakeLayout(spec.in, spec.transposed_a ? spec.k : spec.m,
                    spec.transposed_a ? spec.m : spec.k)),
      b_(MakeLayout(spec.in, spec.transposed_b ? spec.n : spec.k,
                    spec.transposed_b ? spec.k : spec.n)),
      d_(MakeLayout(spec.out, spec.m, spec.n)),
      plain_(Choose(context, spec, CUBLASLT_EPILOGUE_DEFAULT)),
      extended_(ChooseExtended(context, spec)) {
  if (!plain_.found) {
    throw Error(ErrorKind::kUnsupported,
                format("cuBLASLt has no deterministic product of {} by {} and {} by {}, {}", spec.m,
                       spec.k, spec.k, spec.n, spec.in == ElementType::kF32 ? "f32" : "bf16"),
                {}, "choose the other type");
  }
}

MatrixProduct::Layout MatrixProduct::MakeLayout(ElementType type, int64_t rows,
                                                int64_t columns) const {
  cublasLtMatrixLayout_t layout = nullptr;
  Check(context_.libraries(),
        blas_.MatrixLayoutCreate(&layout, CublasType(type), static_cast<uint64_t>(rows),
                                 static_cast<uint64_t>(columns), rows),
        "cublasLtMatrixLayoutCreate");
  return {layout, blas_.MatrixLayoutDestroy};
}

MatrixProduct::Way MatrixProduct::Choose(CudaContext& context, const MatrixProductSpec& spec,
                                         cublasLtEpilogue_t vector) const {
  const CudaLibraries& all = context.libraries();
  cublasLtMatmulDesc_t operation = nullptr;
  Check(all, blas_.MatmulDescCreate(&operation, ComputeType(context, spec), CUDA_R_32F),
        "cublasLtMatmulDescCreate");
  Way way{{operation, blas_.MatmulDescDestroy}};
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
    Check(all, blas_.MatmulDescSetAttribute(operation, attribute, &value, sizeof value),
          "cublasLtMatmulDescSetAttribute");
  };
  set(CUBLASLT_MATMUL_DESC_TRANSA, spec.transposed_a ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(CUBLASLT_MATMUL_DESC_TRANSB, spec.transposed_b ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, vector);
  if (vector != CUBLASLT_EPILOGUE_DEFAULT) {
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, kAligned);  // only its alignment matters
  }

  cublasLtMatmulPreference_t handle = nullptr;
  Check(all, blas_.MatmulPreferenceCreate(&handle), "cublasLtMatmulPreferenceCreate");
  const Descriptor<cublasLtMatmulPreference_t> preference(handle, blas_.MatmulPreferenceDestroy);
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
    Check(all, blas_.MatmulPreferenceSetAttribute(handle, attribute, &value, sizeof value),
          "cublasLtMatmulPreferenceSetAttribute");
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kMostWorkspace);
  // Partial sums over k are reduced in f32 in the workspace, without atomics.
  prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
         uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});

  std::array<cublasLtMatmulHeuristicResult_t, kCandidates> candidates = {};
  int count = 0;
  const cublasStatus_t asked =
      blas_.MatmulAlgoGetHeuristic(context.cublas(), operation, a_.get(), b_.get(), d_.get(),
                                   d_.get(), handle, kCandidates, candidates.data(), &count);
  // Both codes are returned for unsupported combinations of types and vectors.
  if (asked == CUBLAS_STATUS_NOT_SUPPORTED || asked == CUBLAS_STATUS_INVALID_VALUE) return way;
  Check(all, asked, "cublasLtMatmulAlgoGetHeuristic");
  const auto end = candidates.begin() + count;
  const auto first = std::find_if(candidates.begin(), end, [](const auto& candidate) {
    return candidate.state == CUBLAS_STATUS_SUCCESS && candidate.workspaceSize <= kMostWorkspace;
  });
  if (first == end) return way;
  way.algorithm = first->algo;
  way.workspace = first->workspaceSize;
  way.found = true;
  context.ReserveOnEither(way.workspace);
  return way;
}

std::optional<MatrixProduct::Way> MatrixProduct::ChooseExtended(
    CudaContext& context, const MatrixProductSpec& spec) const {
  if (spec.vector == CUBLASLT_EPILOGUE_DEFAULT) return {};
  return Choose(context, spec, spec.vector);
}

void MatrixProduct::Run(const void* a, const void* b, void* d, const void* vector) const {
  const bool extended = vector != nullptr && with_vector();
  const Way& way = extended ? *extended_ : plain_;
  if (extended) {
    Check(context_.libraries(),
          blas_.MatmulDescSetAttribute(way.operation.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                       &vector, sizeof vector),
          "cublasLtMatmulDescSetAttribute");
  }
  const float one = 1, zero = 0;
  Check(context_.libraries(),
        blas_.Matmul(context_.cublas(), way.operation.get(), &one, a, a_.get(), b, b_.get(), &zero,
                     d, d_.get(), d, d_.get(), &way.algorithm, context_.Workspace<void>(),
                     way.workspace, context_.stream()),
        "cublasLtMatmul");
}

}  // namespace recpack::train
