// Loads cuDNN and cuBLASLt at run time, when the first CUDA device is made. Programs run without
// the libraries, and without their start-up cost if no device is used.
#pragma once

#include <cublasLt.h>
#include <cudnn.h>

namespace recpack::train {

// Functions of both libraries, by their names.
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

// Loads on the first call, permanently. Throws Error (kUnsupported) with installation advice if a
// library is missing; the next call tries again. Thread-safe.
const CudaLibraries& LoadCudaLibraries();

// Throw Error (kDevice) with the call and the reason.
void Check(const CudaLibraries& libraries, cudnnStatus_t status, const char* call);
void Check(const CudaLibraries& libraries, cublasStatus_t status, const char* call);

}  // namespace recpack::train
