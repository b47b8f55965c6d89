#include "src/train/cuda/descriptors.h"

#include "recpack/base/error.h"

namespace recpack::train {
namespace {

cudnnDataType_t CudnnType(ElementType type) {
  if (type == ElementType::kF32) return CUDNN_DATA_FLOAT;
  if (type == ElementType::kBf16) return CUDNN_DATA_BFLOAT16;
  throw Error(ErrorKind::kUnsupported, "convolutions support f32 and bf16 only");
}

cudnnTensorFormat_t CudnnFormat(ImageLayout layout) {
  return layout == ImageLayout::kNhwc ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
}

}  // namespace

CudnnTensor MakeCudnnTensor(const CudaContext& context, const Shape& shape, ElementType type,
                            ImageLayout layout) {
  const CudaLibraries& all = context.libraries();
  cudnnTensorDescriptor_t handle = nullptr;
  Check(all, all.cudnn.CreateTensorDescriptor(&handle), "cudnnCreateTensorDescriptor");
  CudnnTensor tensor(handle, all.cudnn.DestroyTensorDescriptor);
  Check(all,
        all.cudnn.SetTensor4dDescriptor(handle, CudnnFormat(layout), CudnnType(type),
                                        static_cast<int>(shape[0]), static_cast<int>(shape[1]),
                                        static_cast<int>(shape[2]), static_cast<int>(shape[3])),
        "cudnnSetTensor4dDescriptor");
  return tensor;
}

CudnnFilter MakeCudnnFilter(const CudaContext& context, const Shape& shape, ElementType type,
                            ImageLayout layout) {
  const CudaLibraries& all = context.libraries();
  cudnnFilterDescriptor_t handle = nullptr;
  Check(all, all.cudnn.CreateFilterDescriptor(&handle), "cudnnCreateFilterDescriptor");
  CudnnFilter filter(handle, all.cudnn.DestroyFilterDescriptor);
  Check(all,
        all.cudnn.SetFilter4dDescriptor(handle, CudnnType(type), CudnnFormat(layout),
                                        static_cast<int>(shape[0]), static_cast<int>(shape[1]),
                                        static_cast<int>(shape[2]), static_cast<int>(shape[3])),
        "cudnnSetFilter4dDescriptor");
  return filter;
}

CudnnConvolution MakeCudnnConvolution(const CudaContext& context, const ConvolutionSpec& spec) {
  const CudaLibraries& all = context.libraries();
  cudnnConvolutionDescriptor_t handle = nullptr;
  Check(all, all.cudnn.CreateConvolutionDescriptor(&handle), "cudnnCreateConvolutionDescriptor");
  CudnnConvolution convolution(handle, all.cudnn.DestroyConvolutionDescriptor);
  Check(all,
        all.cudnn.SetConvolution2dDescriptor(handle, spec.pad_height, spec.pad_width, spec.stride,
                                             spec.stride, 1, 1, CUDNN_CROSS_CORRELATION,
                                             CUDNN_DATA_FLOAT),
        "cudnnSetConvolution2dDescriptor");
  return convolution;
}

}  // namespace recpack::train
