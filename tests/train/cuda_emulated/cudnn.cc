// cuDNN's convolutions on the emulated machine.
#include <algorithm>
#include <vector>

#include "tests/train/cuda_emulated/cudnn_shape.h"
#include "tests/train/cuda_emulated/library_work.h"
#include "tests/train/cuda_emulated/machine.h"

struct cudnnContext {
  cudaStream_t stream = nullptr;
};

namespace recpack::emulated {
namespace {

using Shape = ConvolutionShape;

std::vector<float> Floats(const void* array, const cudnnTensorStruct& like) {
  std::vector<float> values(like.elements());
  for (size_t i = 0; i < values.size(); ++i) values[i] = GetElement(array, like.bf16(), i);
  return values;
}

void Store(const std::vector<float>& values, void* array, const cudnnTensorStruct& like) {
  for (size_t i = 0; i < values.size(); ++i) SetElement(array, like.bf16(), i, values[i]);
}

// What the caller says of a computation: which algorithm, and where it may write.
struct Request {
  cudnnHandle_t handle;
  bool known_algorithm;
  void* workspace;
  size_t workspace_bytes;
  const void *alpha, *beta;
};

// run(shape) on the stream.
template <typename Run>
cudnnStatus_t Compute(const Request& request, const Shape& shape, const Run& run) {
  if (!shape.Agrees()) return CUDNN_STATUS_BAD_PARAM;
  if (*static_cast<const float*>(request.alpha) != 1 ||
      *static_cast<const float*>(request.beta) != 0 || !request.known_algorithm) {
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
  if (request.workspace_bytes < shape.Workspace()) return CUDNN_STATUS_BAD_PARAM;
  const bool done = SubmitLibraryWork(request.handle->stream, request.workspace,
                                      request.workspace_bytes, [=] { run(shape); });
  return done ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

// Two ways: one that gives other bits each time, which is not to be taken, and one that does not.
template <typename Candidate>
cudnnStatus_t Offer(const Shape& shape, int room, int* count, Candidate* to,
                    decltype(Candidate::algo) first, decltype(Candidate::algo) second) {
  if (!shape.Agrees() || room < 2) return CUDNN_STATUS_BAD_PARAM;
  *count = 2;
  for (int i = 0; i < 2; ++i) {
    to[i] = {};
    to[i].algo = i == 0 ? first : second;
    to[i].status = CUDNN_STATUS_SUCCESS;
    to[i].determinism = i == 0 ? CUDNN_NON_DETERMINISTIC : CUDNN_DETERMINISTIC;
    to[i].mathType = shape.convolution.math;
    to[i].memory = shape.Workspace();
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t Size(const Shape& shape, size_t* bytes) {
  if (!shape.Agrees()) return CUDNN_STATUS_BAD_PARAM;
  *bytes = shape.Workspace();
  return CUDNN_STATUS_SUCCESS;
}

template <typename Descriptor>
cudnnStatus_t Make(Descriptor** descriptor) {
  *descriptor = new Descriptor;
  return CUDNN_STATUS_SUCCESS;
}
template <typename Descriptor>
cudnnStatus_t Destroy(Descriptor* descriptor) {
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t Set(cudnnTensorStruct* descriptor, cudnnTensorFormat_t format, cudnnDataType_t type,
                  int n, int c, int h, int w) {
  if (std::min({n, c, h, w}) < 1) return CUDNN_STATUS_BAD_PARAM;
  if (type != CUDNN_DATA_FLOAT && type != CUDNN_DATA_BFLOAT16) return CUDNN_STATUS_NOT_SUPPORTED;
  descriptor->nhwc = format == CUDNN_TENSOR_NHWC;
  descriptor->type = type;
  descriptor->n = n;
  descriptor->c = c;
  descriptor->h = h;
  descriptor->w = w;
  return CUDNN_STATUS_SUCCESS;
}

using Tensor = cudnnTensorDescriptor_t;
using Filter = cudnnFilterDescriptor_t;
using Convolution = cudnnConvolutionDescriptor_t;

void FillDescriptors(CudaLibraries* all) {
  auto& dnn = all->cudnn;
  dnn.CreateTensorDescriptor = Make<cudnnTensorStruct>;
  dnn.DestroyTensorDescriptor = Destroy<cudnnTensorStruct>;
  dnn.SetTensor4dDescriptor = Set;
  dnn.CreateFilterDescriptor = Make<cudnnFilterStruct>;
  dnn.DestroyFilterDescriptor = Destroy<cudnnFilterStruct>;
  dnn.SetFilter4dDescriptor = [](Filter filter, cudnnDataType_t type, cudnnTensorFormat_t format,
                                 int n, int c, int h,
                                 int w) { return Set(filter, format, type, n, c, h, w); };
  dnn.CreateConvolutionDescriptor = Make<cudnnConvolutionStruct>;
  dnn.DestroyConvolutionDescriptor = Destroy<cudnnConvolutionStruct>;
  dnn.SetConvolution2dDescriptor = [](Convolution convolution, int pad_h, int pad_w, int stride,
                                      int other_stride, int dilation, int other_dilation,
                                      cudnnConvolutionMode_t mode, cudnnDataType_t compute) {
    if (pad_h < 0 || pad_w < 0 || stride < 1) return CUDNN_STATUS_BAD_PARAM;
    if (stride != other_stride || dilation != 1 || other_dilation != 1 ||
        mode != CUDNN_CROSS_CORRELATION || compute != CUDNN_DATA_FLOAT) {
      return CUDNN_STATUS_NOT_SUPPORTED;
    }
    *convolution = {pad_h, pad_w, stride, CUDNN_DEFAULT_MATH};
    return CUDNN_STATUS_SUCCESS;
  };
  dnn.SetConvolutionMathType = [](Convolution convolution, cudnnMathType_t math) {
    convolution->math = math;
    return CUDNN_STATUS_SUCCESS;
  };
}

void FillForward(CudaLibraries* all) {
  constexpr auto kRandom = CUDNN_CONVOLUTION_FWD_ALGO_GEMM;
  constexpr auto kFixed = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
  auto& dnn = all->cudnn;
  dnn.GetConvolutionForwardAlgorithm =
      [](cudnnHandle_t, const Tensor x, const Filter w, const Convolution convolution,
         const Tensor y, const int room, int* count, cudnnConvolutionFwdAlgoPerf_t* to) {
        return Offer(Shape{*x, *w, *convolution, *y}, room, count, to, kRandom, kFixed);
      };
  dnn.GetConvolutionForwardWorkspaceSize = [](cudnnHandle_t, const Tensor x, const Filter w,
                                              const Convolution convolution, const Tensor y,
                                              cudnnConvolutionFwdAlgo_t, size_t* bytes) {
    return Size({*x, *w, *convolution, *y}, bytes);
  };
  dnn.ConvolutionForward = [](cudnnHandle_t handle, const void* alpha, const Tensor x,
                              const void* from, const Filter w, const void* weights,
                              const Convolution convolution, cudnnConvolutionFwdAlgo_t algorithm,
                              void* workspace, size_t bytes, const void* beta, const Tensor y,
                              void* to) {
    return Compute({handle, algorithm == kFixed, workspace, bytes, alpha, beta},
                   {*x, *w, *convolution, *y}, [=](const Shape& shape) {
                     const auto in = Floats(from, shape.x), by = Floats(weights, shape.w);
                     std::vector<float> sums(shape.y.elements());
                     shape.ForEach([&](size_t i, size_t k, size_t o) { sums[o] += in[i] * by[k]; });
                     Store(sums, to, shape.y);
                   });
  };
}

void FillBackwardData(CudaLibraries* all) {
  constexpr auto kRandom = CUDNN_CONVOLUTION_BWD_DATA_ALGO_0;
  constexpr auto kFixed = CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;
  auto& dnn = all->cudnn;
  dnn.GetConvolutionBackwardDataAlgorithm =
      [](cudnnHandle_t, const Filter w, const Tensor y, const Convolution convolution,
         const Tensor x, const int room, int* count, cudnnConvolutionBwdDataAlgoPerf_t* to) {
        return Offer(Shape{*x, *w, *convolution, *y}, room, count, to, kRandom, kFixed);
      };
  dnn.GetConvolutionBackwardDataWorkspaceSize = [](cudnnHandle_t, const Filter w, const Tensor y,
                                                   const Convolution convolution, const Tensor x,
                                                   cudnnConvolutionBwdDataAlgo_t, size_t* bytes) {
    return Size({*x, *w, *convolution, *y}, bytes);
  };
  dnn.ConvolutionBackwardData = [](cudnnHandle_t handle, const void* alpha, const Filter w,
                                   const void* weights, const Tensor y, const void* gradient,
                                   const Convolution convolution,
                                   cudnnConvolutionBwdDataAlgo_t algorithm, void* workspace,
                                   size_t bytes, const void* beta, const Tensor x, void* to) {
    return Compute({handle, algorithm == kFixed, workspace, bytes, alpha, beta},
                   {*x, *w, *convolution, *y}, [=](const Shape& shape) {
                     const auto in = Floats(gradient, shape.y), by = Floats(weights, shape.w);
                     std::vector<float> sums(shape.x.elements());
                     shape.ForEach([&](size_t i, size_t k, size_t o) { sums[i] += in[o] * by[k]; });
                     Store(sums, to, shape.x);
                   });
  };
}

void FillBackwardFilter(CudaLibraries* all) {
  constexpr auto kRandom = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0;
  constexpr auto kFixed = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;
  auto& dnn = all->cudnn;
  dnn.GetConvolutionBackwardFilterAlgorithm =
      [](cudnnHandle_t, const Tensor x, const Tensor y, const Convolution convolution,
         const Filter w, const int room, int* count, cudnnConvolutionBwdFilterAlgoPerf_t* to) {
        return Offer(Shape{*x, *w, *convolution, *y}, room, count, to, kRandom, kFixed);
      };
  dnn.GetConvolutionBackwardFilterWorkspaceSize =
      [](cudnnHandle_t, const Tensor x, const Tensor y, const Convolution convolution,
         const Filter w, cudnnConvolutionBwdFilterAlgo_t, size_t* bytes) {
        return Size({*x, *w, *convolution, *y}, bytes);
      };
  dnn.ConvolutionBackwardFilter = [](cudnnHandle_t handle, const void* alpha, const Tensor x,
                                     const void* from, const Tensor y, const void* gradient,
                                     const Convolution convolution,
                                     cudnnConvolutionBwdFilterAlgo_t algorithm, void* workspace,
                                     size_t bytes, const void* beta, const Filter w, void* to) {
    return Compute({handle, algorithm == kFixed, workspace, bytes, alpha, beta},
                   {*x, *w, *convolution, *y}, [=](const Shape& shape) {
                     const auto in = Floats(from, shape.x), by = Floats(gradient, shape.y);
                     std::vector<float> sums(shape.w.elements());
                     shape.ForEach([&](size_t i, size_t k, size_t o) { sums[k] += in[i] * by[o]; });
                     Store(sums, to, shape.w);
                   });
  };
}

}  // namespace

void FillCudnn(CudaLibraries* all) {
  auto& dnn = all->cudnn;
  dnn.GetVersion = []() -> size_t { return CUDNN_VERSION; };
  dnn.GetErrorString = [](cudnnStatus_t) -> const char* { return "emulated cuDNN refuses"; };
  dnn.GetLastErrorString = [](char* text, size_t) { *text = '\0'; };
  dnn.Create = Make<cudnnContext>;
  dnn.Destroy = Destroy<cudnnContext>;
  dnn.SetStream = [](cudnnHandle_t handle, cudaStream_t stream) {
    handle->stream = stream;
    return CUDNN_STATUS_SUCCESS;
  };
  FillDescriptors(all);
  FillForward(all);
  FillBackwardData(all);
  FillBackwardFilter(all);
}

}  // namespace recpack::emulated
