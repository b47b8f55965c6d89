// cuDNN and cuBLASLt, loaded when the first device is made: programs start where neither is, and do
// not pay for them where no device is asked for.
#pragma once

#include <cublasLt.h>
#include <cudnn.h>

namespace recpack::train {

// Their functions, by their names.
struct CudaLibraries {
  struct {
    decltype(&cudnnGetVersion) GetVersion;
    decltype(&cudnnGetErrorString) GetErrorString;
    decltype(&cudnnGetLastErrorString) GetLastErrorString;
    decltype(&cudnnCreate) Create;
    decltype(&cudnnDestroy) Destroy;
    decltype(&cudnnSetStream) SetStream;
    decltype(&cudnnCreateTensorDescriptor) CreateTensorDescriptor;
    decltype(&cudnnDestroyTensorDescriptor) DestroyTensorDescriptor;
    decltype(&cudnnSetTensor4dDescriptor) SetTensor4dDescriptor;
    decltype(&cudnnCreateFilterDescriptor) CreateFilterDescriptor;
    decltype(&cudnnDestroyFilterDescriptor) DestroyFilterDescriptor;
    decltype(&cudnnSetFilter4dDescriptor) SetFilter4dDescriptor;
    decltype(&cudnnCreateConvolutionDescriptor) CreateConvolutionDescriptor;
    decltype(&cudnnDestroyConvolutionDescriptor) DestroyConvolutionDescriptor;
    decltype(&cudnnSetConvolution2dDescriptor) SetConvolution2dDescriptor;
    decltype(&cudnnSetConvolutionMathType) SetConvolutionMathType;
    decltype(&cudnnGetConvolutionForwardAlgorithm_v7) GetConvolutionForwardAlgorithm;
    decltype(&cudnnGetConvolutionForwardWorkspaceSize) GetConvolutionForwardWorkspaceSize;
    decltype(&cudnnConvolutionForward) ConvolutionForward;
    decltype(&cudnnGetConvolutionBackwardDataAlgorithm_v7) GetConvolutionBackwardDataAlgorithm;
    decltype(&cudnnGetConvolutionBackwardDataWorkspaceSize) GetConvolutionBackwardDataWorkspaceSize;
    decltype(&cudnnConvolutionBackwardData) ConvolutionBackwardData;
    decltype(&cudnnGetConvolutionBackwardFilterAlgorithm_v7) GetConvolutionBackwardFilterAlgorithm;
    decltype(&cudnnGetConvolutionBackwardFilterWorkspaceSize)
        GetConvolutionBackwardFilterWorkspaceSize;
    decltype(&cudnnConvolutionBackwardFilter) ConvolutionBackwardFilter;
  } cudnn;
  struct {
    decltype(&cublasLtGetStatusString) GetStatusString;
    decltype(&cublasLtCreate) Create;
    decltype(&cublasLtDestroy) Destroy;
    decltype(&cublasLtMatmulDescCreate) MatmulDescCreate;
    decltype(&cublasLtMatmulDescDestroy) MatmulDescDestroy;
    decltype(&cublasLtMatmulDescSetAttribute) MatmulDescSetAttribute;
    decltype(&cublasLtMatrixLayoutCreate) MatrixLayoutCreate;
    decltype(&cublasLtMatrixLayoutDestroy) MatrixLayoutDestroy;
    decltype(&cublasLtMatmulPreferenceCreate) MatmulPreferenceCreate;
    decltype(&cublasLtMatmulPreferenceDestroy) MatmulPreferenceDestroy;
    decltype(&cublasLtMatmulPreferenceSetAttribute) MatmulPreferenceSetAttribute;
    decltype(&cublasLtMatmulAlgoGetHeuristic) MatmulAlgoGetHeuristic;
    decltype(&cublasLtMatmul) Matmul;
  } cublas;
};

// Loaded on the first call, for ever. Throws Error (kUnsupported) where one is not to be had,
// saying how it comes; the next call tries again. Any thread.
const CudaLibraries& LoadCudaLibraries();

// Throw Error (kDevice) that names the call and the reason.
void Check(const CudaLibraries& libraries, cudnnStatus_t status, const char* call);
void Check(const CudaLibraries& libraries, cublasStatus_t status, const char* call);

}  // namespace recpack::train
