// cuBLASLt on the emulated machine: column-major products, alone, with a bias and with a bias
// gradient.
#include <cstring>

#include "tests/train/cuda_emulated/library_work.h"
#include "tests/train/cuda_emulated/machine.h"

struct cublasLtContext {
  int device = 0;
};

namespace recpack::emulated {
namespace {

constexpr size_t kWorkspace = 512;  // per product
constexpr uint64_t kKnown = 7;      // tag of an algorithm that may be used

// Contents of the opaque descriptors here.
struct Layout {
  cudaDataType type;
  uint64_t rows, columns;
  int64_t stride;
  bool Valid() const { return stride >= static_cast<int64_t>(rows) && rows > 0 && columns > 0; }
};
struct Operation {
  cublasComputeType_t compute;
  cublasOperation_t a, b;
  cublasLtEpilogue_t epilogue;
  void* vector;
};
struct Preference {
  uint64_t workspace;
  uint32_t reductions;
};

// An opaque descriptor begins with their address.
template <typename Held, typename Opaque>
Held& In(Opaque* descriptor) {
  return *reinterpret_cast<Held*>(static_cast<uintptr_t>(descriptor->data[0]));
}
Layout& Of(cublasLtMatrixLayout_t layout) { return In<Layout>(layout); }
Operation& Of(cublasLtMatmulDesc_t operation) { return In<Operation>(operation); }
Preference& Of(cublasLtMatmulPreference_t preference) { return In<Preference>(preference); }

template <typename Held, typename Opaque>
cublasStatus_t Make(Opaque** descriptor, const Held& held) {
  *descriptor = new Opaque();
  (*descriptor)->data[0] = reinterpret_cast<uintptr_t>(new Held(held));
  return CUBLAS_STATUS_SUCCESS;
}
template <typename Held, typename Opaque>
cublasStatus_t Destroy(Opaque* descriptor) {
  delete &In<Held>(descriptor);
  delete descriptor;
  return CUBLAS_STATUS_SUCCESS;
}

template <typename Value>
cublasStatus_t Set(Value& value, const void* from, size_t bytes) {
  if (bytes != sizeof value) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&value, from, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t SetOperation(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t which,
                            const void* from, size_t bytes) {
  Operation& of = Of(operation);
  switch (which) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return Set(of.a, from, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return Set(of.b, from, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return Set(of.epilogue, from, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return Set(of.vector, from, bytes);
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t SetPreference(cublasLtMatmulPreference_t preference,
                             cublasLtMatmulPreferenceAttributes_t which, const void* from,
                             size_t bytes) {
  if (which == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) {
    return Set(Of(preference).workspace, from, bytes);
  }
  if (which != CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK) return CUBLAS_STATUS_NOT_SUPPORTED;
  return Set(Of(preference).reductions, from, bytes);
}

// One product, with its descriptors as they were at the call.
struct Product {
  Operation operation;
  Layout a, b, d;

  uint64_t inner() const { return operation.a == CUBLAS_OP_N ? a.columns : a.rows; }
  cublasStatus_t Judge() const {
    const bool turned_a = operation.a != CUBLAS_OP_N, turned_b = operation.b != CUBLAS_OP_N;
    if (!a.Valid() || !b.Valid() || !d.Valid() || (turned_a ? a.columns : a.rows) != d.rows ||
        (turned_b ? b.rows : b.columns) != d.columns ||
        (turned_b ? b.columns : b.rows) != inner()) {
      return CUBLAS_STATUS_INVALID_VALUE;
    }
    const bool f32 = a.type == CUDA_R_32F;
    const bool types =
        a.type == b.type &&
        (f32 ? d.type == CUDA_R_32F
             : a.type == CUDA_R_16BF && (d.type == CUDA_R_16BF || d.type == CUDA_R_32F));
    const bool compute = operation.compute == CUBLAS_COMPUTE_32F ||
                         (operation.compute == CUBLAS_COMPUTE_32F_FAST_TF32 && f32);
    const bool vector = operation.epilogue == CUBLASLT_EPILOGUE_DEFAULT ||
                        operation.epilogue == CUBLASLT_EPILOGUE_BIAS ||
                        operation.epilogue == CUBLASLT_EPILOGUE_BGRADB;
    if (!types || !compute || !vector) return CUBLAS_STATUS_NOT_SUPPORTED;
    // Lets tests cover callers' fallback, which some devices need.
    const bool mixed = operation.epilogue != CUBLASLT_EPILOGUE_DEFAULT && a.type != d.type;
    return mixed ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
  }
  float A(const void* from, size_t row, size_t k) const {
    return At(from, a, operation.a == CUBLAS_OP_N ? row : k, operation.a == CUBLAS_OP_N ? k : row);
  }
  float B(const void* from, size_t k, size_t column) const {
    return At(from, b, operation.b == CUBLAS_OP_N ? k : column,
              operation.b == CUBLAS_OP_N ? column : k);
  }
  static float At(const void* from, const Layout& of, size_t row, size_t column) {
    return GetElement(from, of.type != CUDA_R_32F, column * static_cast<size_t>(of.stride) + row);
  }

  void Compute(const void* left, const void* right, void* to) const {
    const bool bf16 = d.type != CUDA_R_32F;
    for (size_t j = 0; j < d.columns; ++j) {
      for (size_t i = 0; i < d.rows; ++i) {
        float sum = 0;
        for (size_t p = 0; p < inner(); ++p) sum += A(left, i, p) * B(right, p, j);
        if (operation.epilogue == CUBLASLT_EPILOGUE_BIAS) {
          sum += GetElement(operation.vector, bf16, i);
        }
        SetElement(to, bf16, j * static_cast<size_t>(d.stride) + i, sum);
      }
      if (operation.epilogue != CUBLASLT_EPILOGUE_BGRADB) continue;
      float sum = 0;
      for (size_t p = 0; p < inner(); ++p) sum += B(right, p, j);
      SetElement(operation.vector, bf16, j, sum);
    }
  }
};

// One algorithm that this device lacks, a non-deterministic one if the caller's mask allows it, and
// a usable one if the caller has the workspace.
cublasStatus_t Offer(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                     cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                     cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t preference, int room,
                     cublasLtMatmulHeuristicResult_t* to, int* count) {
  *count = 0;
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  const cublasStatus_t judged = Product{Of(operation), Of(a), Of(b), Of(d)}.Judge();
  if (judged != CUBLAS_STATUS_SUCCESS) return judged;
  if (c != d || room < 3) return CUBLAS_STATUS_INVALID_VALUE;
  const auto add = [&](uint64_t kind, size_t workspace, cublasStatus_t state) {
    cublasLtMatmulHeuristicResult_t& result = to[(*count)++];
    result = {};
    result.algo.data[0] = kind;
    result.workspaceSize = workspace;
    result.state = state;
  };
  add(1, 0, CUBLAS_STATUS_ARCH_MISMATCH);
  if ((Of(preference).reductions & CUBLASLT_REDUCTION_SCHEME_INPLACE) != 0) {
    add(2, 0, CUBLAS_STATUS_SUCCESS);
  }
  if (Of(preference).workspace >= kWorkspace) add(kKnown, kWorkspace, CUBLAS_STATUS_SUCCESS);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t Multiply(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, const void* alpha,
                        const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                        cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                        cublasLtMatrixLayout_t c_layout, void* d, cublasLtMatrixLayout_t d_layout,
                        const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                        size_t workspace_bytes, cudaStream_t stream) {
  if (!handle || handle->device != CurrentDevice()) return CUBLAS_STATUS_NOT_INITIALIZED;
  const Product product{Of(operation), Of(a_layout), Of(b_layout), Of(d_layout)};
  const cublasStatus_t judged = product.Judge();
  if (judged != CUBLAS_STATUS_SUCCESS) return judged;
  const bool vector = product.operation.epilogue != CUBLASLT_EPILOGUE_DEFAULT;
  if (*static_cast<const float*>(alpha) != 1 || *static_cast<const float*>(beta) != 0 ||
      !algorithm || algorithm->data[0] != kKnown || c != d || c_layout != d_layout ||
      workspace_bytes < kWorkspace || reinterpret_cast<uintptr_t>(workspace) % 256 != 0 ||
      (vector && !product.operation.vector)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const bool done =
      SubmitLibraryWork(stream, workspace, workspace_bytes, [=] { product.Compute(a, b, d); });
  return done ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace

void FillCublas(train::CudaLibraries* all) {
  auto& blas = all->cublas;
  blas.GetStatusString = [](cublasStatus_t) -> const char* { return "emulated cuBLASLt refuses"; };
  blas.Create = [](cublasLtHandle_t* handle) {
    *handle = new cublasLtContext{.device = CurrentDevice()};
    return CUBLAS_STATUS_SUCCESS;
  };
  blas.Destroy = [](cublasLtHandle_t handle) {
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
  };
  blas.MatrixLayoutCreate = [](cublasLtMatrixLayout_t* layout, cudaDataType type, uint64_t rows,
                               uint64_t columns, int64_t stride) {
    return Make(layout, Layout{type, rows, columns, stride});
  };
  blas.MatrixLayoutDestroy = Destroy<Layout>;
  blas.MatmulDescCreate = [](cublasLtMatmulDesc_t* operation, cublasComputeType_t compute,
                             cudaDataType scale) {
    if (scale != CUDA_R_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
    return Make(operation,
                Operation{compute, CUBLAS_OP_N, CUBLAS_OP_N, CUBLASLT_EPILOGUE_DEFAULT, nullptr});
  };
  blas.MatmulDescDestroy = Destroy<Operation>;
  blas.MatmulDescSetAttribute = SetOperation;
  blas.MatmulPreferenceCreate = [](cublasLtMatmulPreference_t* preference) {
    return Make(preference, Preference{0, CUBLASLT_REDUCTION_SCHEME_MASK});
  };
  blas.MatmulPreferenceDestroy = Destroy<Preference>;
  blas.MatmulPreferenceSetAttribute = SetPreference;
  blas.MatmulAlgoGetHeuristic = Offer;
  blas.Matmul = Multiply;
}

}  // namespace recpack::emulated
