// cuDNN's convolutions on the emulated machine.
#include <algorithm>
#include <cstdint>
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

// The caller's choices for a computation: the algorithm, and the memory it may write.
struct Request {
  cudnnHandle_t handle;
  bool known_algorithm;
  void* workspace;
  size_t workspace_bytes;
  const void *alpha, *beta;
};

// Calls run(shape) on the stream.
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

// Two algorithms: one that is not deterministic and must not be chosen, and one that is.
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

void FillDescriptors(train::CudaLibraries* all) {
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

// Role of an array in a call: x, the weights or y.
enum Role : uint8_t { kX, kW, kY };

// One kind of convolution: kA and kB are multiplied into kC, with their descriptors in this order.
template <Role kA, Role kB, Role kC, auto kRandom, auto kFixed>
struct Way {
  template <Role kRole, typename A, typename B, typename C>
  static auto Pick(A a, B b, C c) {
    if constexpr (kRole == kA) {
      return a;
    } else if constexpr (kRole == kB) {
      return b;
    } else {
      return c;
    }
  }
  template <typename A, typename B, typename C>
  static Shape ShapeOf(A a, B b, Convolution convolution, C c) {
    return {*Pick<kX>(a, b, c), *Pick<kW>(a, b, c), *convolution, *Pick<kY>(a, b, c)};
  }

  template <typename A, typename B, typename C, typename Candidate>
  static cudnnStatus_t Ask(cudnnHandle_t, A a, B b, Convolution convolution, C c, int room,
                           int* count, Candidate* to) {
    return Offer(ShapeOf(a, b, convolution, c), room, count, to, kRandom, kFixed);
  }
  template <typename A, typename B, typename C, typename Algorithm>
  static cudnnStatus_t Workspace(cudnnHandle_t, A a, B b, Convolution convolution, C c, Algorithm,
                                 size_t* bytes) {
    return Size(ShapeOf(a, b, convolution, c), bytes);
  }
  template <typename A, typename B, typename C, typename Algorithm>
  static cudnnStatus_t Run(cudnnHandle_t handle, const void* alpha, A a, const void* first, B b,
                           const void* second, Convolution convolution, Algorithm algorithm,
                           void* workspace, size_t bytes, const void* beta, C c, void* to) {
    return Compute({handle, algorithm == kFixed, workspace, bytes, alpha, beta},
                   ShapeOf(a, b, convolution, c),
                   [first, second, to, like_a = *a, like_b = *b, like_c = *c](const Shape& shape) {
                     const auto left = Floats(first, like_a), right = Floats(second, like_b);
                     std::vector<float> sums(like_c.elements());
                     shape.ForEach([&](size_t x, size_t w, size_t y) {
                       sums[Of<kC>(x, w, y)] += left[Of<kA>(x, w, y)] * right[Of<kB>(x, w, y)];
                     });
                     Store(sums, to, like_c);
                   });
  }

  template <Role kRole>
  static size_t Of(size_t x, size_t w, size_t y) {
    return kRole == kX ? x : kRole == kW ? w : y;
  }
};

void FillWays(train::CudaLibraries* all) {
  auto& dnn = all->cudnn;
  using Forward = Way<kX, kW, kY, CUDNN_CONVOLUTION_FWD_ALGO_GEMM,
                      CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM>;
  dnn.GetConvolutionForwardAlgorithm = Forward::Ask;
  dnn.GetConvolutionForwardWorkspaceSize = Forward::Workspace;
  dnn.ConvolutionForward = Forward::Run;
  using Data =
      Way<kW, kY, kX, CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1>;
  dnn.GetConvolutionBackwardDataAlgorithm = Data::Ask;
  dnn.GetConvolutionBackwardDataWorkspaceSize = Data::Workspace;
  dnn.ConvolutionBackwardData = Data::Run;
  using Filters =
      Way<kX, kY, kW, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1>;
  dnn.GetConvolutionBackwardFilterAlgorithm = Filters::Ask;
  dnn.GetConvolutionBackwardFilterWorkspaceSize = Filters::Workspace;
  dnn.ConvolutionBackwardFilter = Filters::Run;
}

}  // namespace

void FillCudnn(train::CudaLibraries* all) {
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
  FillWays(all);
}

}  // namespace recpack::emulated
