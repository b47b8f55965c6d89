// cuBLAS on the emulated machine.
#include "tests/train/cuda_emulated/library_work.h"
#include "tests/train/cuda_emulated/machine.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
  int device = 0;
};

namespace recpack::emulated {
namespace {

// An array by columns, as it is asked for or transposed.
struct Matrix {
  const void* data;
  bool bf16;
  size_t stride;
  bool transposed;
  float At(size_t row, size_t column) const {
    return GetElement(data, bf16, transposed ? row * stride + column : column * stride + row);
  }
};

bool Types(cudaDataType a, cudaDataType b, cudaDataType c) {
  if (a != b) return false;
  return a == CUDA_R_32F ? c == CUDA_R_32F
                         : a == CUDA_R_16BF && (c == CUDA_R_16BF || c == CUDA_R_32F);
}

cublasStatus_t Multiply(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                        int m, int n, int k, const void* alpha, const void* a, cudaDataType type_a,
                        int lda, const void* b, cudaDataType type_b, int ldb, const void* beta,
                        void* c, cudaDataType type_c, int ldc, cublasComputeType_t compute,
                        cublasGemmAlgo_t) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  // Which numbers it multiplies by is no matter to the trainer: it only asks for products.
  if (*static_cast<const float*>(alpha) != 1 || *static_cast<const float*>(beta) != 0) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  const bool transposed_a = op_a != CUBLAS_OP_N, transposed_b = op_b != CUBLAS_OP_N;
  if (m < 0 || n < 0 || k < 0 || lda < std::max(1, transposed_a ? k : m) ||
      ldb < std::max(1, transposed_b ? n : k) || ldc < std::max(1, m)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const bool f32 = type_a == CUDA_R_32F;
  if (!Types(type_a, type_b, type_c) ||
      !(compute == CUBLAS_COMPUTE_32F || (compute == CUBLAS_COMPUTE_32F_FAST_TF32 && f32))) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  const Matrix left{a, !f32, static_cast<size_t>(lda), transposed_a};
  const Matrix right{b, !f32, static_cast<size_t>(ldb), transposed_b};
  const auto size = [](int value) { return static_cast<size_t>(value); };
  const bool done = SubmitLibraryWork(
      handle->stream, handle->workspace, handle->workspace_bytes,
      [=, rows = size(m), columns = size(n), inner = size(k), stride = size(ldc)] {
        for (size_t j = 0; j < columns; ++j) {
          for (size_t i = 0; i < rows; ++i) {
            float sum = 0;
            for (size_t p = 0; p < inner; ++p) sum += left.At(i, p) * right.At(p, j);
            SetElement(c, type_c != CUDA_R_32F, j * stride + i, sum);
          }
        }
      });
  return done ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace

void FillCublas(CudaLibraries* all) {
  auto& blas = all->cublas;
  blas.GetStatusString = [](cublasStatus_t) -> const char* { return "emulated cuBLAS refuses"; };
  blas.Create = [](cublasHandle_t* handle) {
    *handle = new cublasContext{.device = CurrentDevice()};
    return CUBLAS_STATUS_SUCCESS;
  };
  blas.Destroy = [](cublasHandle_t handle) {
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
  };
  // Takes the workspace back.
  blas.SetStream = [](cublasHandle_t handle, cudaStream_t stream) {
    handle->stream = stream;
    handle->workspace = nullptr;
    handle->workspace_bytes = 0;
    return CUBLAS_STATUS_SUCCESS;
  };
  blas.SetWorkspace = [](cublasHandle_t handle, void* memory, size_t bytes) {
    if (reinterpret_cast<uintptr_t>(memory) % 256 != 0) return CUBLAS_STATUS_INVALID_VALUE;
    handle->workspace = memory;
    handle->workspace_bytes = bytes;
    return CUBLAS_STATUS_SUCCESS;
  };
  blas.GemmEx = Multiply;
}

}  // namespace recpack::emulated
