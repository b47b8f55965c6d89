#include "src/train/cuda/runtime/libraries.h"

#include <string>

#include "recpack/base/shared_library.h"

namespace recpack::train {
namespace {

#define RECPACK_TEXT_OF(value) #value
#define RECPACK_TEXT(value) RECPACK_TEXT_OF(value)

constexpr char kFix[] =
    "install it (tools/setup.sh --cuda brings it), or name its folder in LD_LIBRARY_PATH";

// Falls back to the folder where the build found the library.
SharedLibrary Open(const std::string& name, const std::string& folder) {
  return {name, folder.empty() ? "" : folder + "/" + name, kFix, SharedLibrary::Symbols::kShared};
}

CudaLibraries Load() {
  CudaLibraries all{};
  // cuBLASLt first, so that cuDNN finds it loaded.
  const SharedLibrary blas =
      Open("libcublasLt.so." RECPACK_TEXT(CUBLAS_VER_MAJOR), RECPACK_CUBLAS_FOLDER);
  auto& cublas = all.cublas;
  blas.Find(cublas.GetStatusString, "cublasLtGetStatusString");
  blas.Find(cublas.Create, "cublasLtCreate");
  blas.Find(cublas.Destroy, "cublasLtDestroy");
  blas.Find(cublas.MatmulDescCreate, "cublasLtMatmulDescCreate");
  blas.Find(cublas.MatmulDescDestroy, "cublasLtMatmulDescDestroy");
  blas.Find(cublas.MatmulDescSetAttribute, "cublasLtMatmulDescSetAttribute");
  blas.Find(cublas.MatrixLayoutCreate, "cublasLtMatrixLayoutCreate");
  blas.Find(cublas.MatrixLayoutDestroy, "cublasLtMatrixLayoutDestroy");
  blas.Find(cublas.MatmulPreferenceCreate, "cublasLtMatmulPreferenceCreate");
  blas.Find(cublas.MatmulPreferenceDestroy, "cublasLtMatmulPreferenceDestroy");
  blas.Find(cublas.MatmulPreferenceSetAttribute, "cublasLtMatmulPreferenceSetAttribute");
  blas.Find(cublas.MatmulAlgoGetHeuristic, "cublasLtMatmulAlgoGetHeuristic");
  blas.Find(cublas.Matmul, "cublasLtMatmul");

  const SharedLibrary dnn = Open("libcudnn.so." RECPACK_TEXT(CUDNN_MAJOR), RECPACK_CUDNN_FOLDER);
  auto& cudnn = all.cudnn;
  dnn.Find(cudnn.GetVersion, "cudnnGetVersion");
  dnn.Find(cudnn.GetErrorString, "cudnnGetErrorString");
  dnn.Find(cudnn.GetLastErrorString, "cudnnGetLastErrorString");
  dnn.Find(cudnn.Create, "cudnnCreate");
  dnn.Find(cudnn.Destroy, "cudnnDestroy");
  dnn.Find(cudnn.SetStream, "cudnnSetStream");
  dnn.Find(cudnn.CreateTensorDescriptor, "cudnnCreateTensorDescriptor");
  dnn.Find(cudnn.DestroyTensorDescriptor, "cudnnDestroyTensorDescriptor");
  dnn.Find(cudnn.SetTensor4dDescriptor, "cudnnSetTensor4dDescriptor");
  dnn.Find(cudnn.CreateFilterDescriptor, "cudnnCreateFilterDescriptor");
  dnn.Find(cudnn.DestroyFilterDescriptor, "cudnnDestroyFilterDescriptor");
  dnn.Find(cudnn.SetFilter4dDescriptor, "cudnnSetFilter4dDescriptor");
  dnn.Find(cudnn.CreateConvolutionDescriptor, "cudnnCreateConvolutionDescriptor");
  dnn.Find(cudnn.DestroyConvolutionDescriptor, "cudnnDestroyConvolutionDescriptor");
  dnn.Find(cudnn.SetConvolution2dDescriptor, "cudnnSetConvolution2dDescriptor");
  dnn.Find(cudnn.SetConvolutionMathType, "cudnnSetConvolutionMathType");
  dnn.Find(cudnn.GetConvolutionForwardAlgorithm, "cudnnGetConvolutionForwardAlgorithm_v7");
  dnn.Find(cudnn.GetConvolutionForwardWorkspaceSize, "cudnnGetConvolutionForwardWorkspaceSize");
  dnn.Find(cudnn.ConvolutionForward, "cudnnConvolutionForward");
  dnn.Find(cudnn.GetConvolutionBackwardDataAlgorithm,
           "cudnnGetConvolutionBackwardDataAlgorithm_v7");
  dnn.Find(cudnn.GetConvolutionBackwardDataWorkspaceSize,
           "cudnnGetConvolutionBackwardDataWorkspaceSize");
  dnn.Find(cudnn.ConvolutionBackwardData, "cudnnConvolutionBackwardData");
  dnn.Find(cudnn.GetConvolutionBackwardFilterAlgorithm,
           "cudnnGetConvolutionBackwardFilterAlgorithm_v7");
  dnn.Find(cudnn.GetConvolutionBackwardFilterWorkspaceSize,
           "cudnnGetConvolutionBackwardFilterWorkspaceSize");
  dnn.Find(cudnn.ConvolutionBackwardFilter, "cudnnConvolutionBackwardFilter");
  return all;
}

}  // namespace

const CudaLibraries& LoadCudaLibraries() {
  static const CudaLibraries libraries = Load();
  return libraries;
}

}  // namespace recpack::train
