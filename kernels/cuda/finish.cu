#include <cuda_runtime.h>

#include <algorithm>
#include <string>

#include "kernels/cuda/finish_group.h"
#include "kernels/cuda/finish_launch.h"
#include "recpack/base/error.h"

namespace recpack {
namespace {

constexpr uint32_t kMaxImages = 65535;  // limit of gridDim.y

template <ElementType kType, uint32_t kGroup>
__global__ void FinishBatch(const __grid_constant__ FinishGrid grid,
                            const uint8_t* __restrict__ images,
                            const FinishGeometry* __restrict__ geometry, uint32_t count,
                            typename ElementStorage<kType>::Type* __restrict__ out) {
  const uint32_t group = blockIdx.x * blockDim.x + threadIdx.x;
  if (group >= grid.groups) return;
  for (size_t image = blockIdx.y; image < count; image += gridDim.y) {
    FinishGroup<kType, kGroup>(grid, images + image * grid.in_image, geometry[image], group,
                               out + image * grid.out_image);
  }
}

// Arguments of one kernel launch.
struct Launch {
  const FinishGrid& grid;
  const uint8_t* images;
  const FinishGeometry* geometry;
  uint32_t count;
  void* out;
  cudaStream_t stream;
  uint32_t threads;
};

// Returns the error of this launch; the thread's last error may be that of an earlier call.
template <ElementType kType, uint32_t kGroup>
cudaError_t Start(const Launch& launch) {
  cudaLaunchConfig_t config = {};
  config.blockDim = dim3(launch.threads);
  config.gridDim = dim3((launch.grid.groups + launch.threads - 1) / launch.threads,
                        std::min(launch.count, kMaxImages));
  config.stream = launch.stream;
  return cudaLaunchKernelEx(&config, FinishBatch<kType, kGroup>, launch.grid, launch.images,
                            launch.geometry, launch.count,
                            static_cast<typename ElementStorage<kType>::Type*>(launch.out));
}

template <ElementType kType>
cudaError_t StartTyped(const Launch& launch) {
  return launch.grid.group == 1 ? Start<kType, 1>(launch) : Start<kType, kFinishGroup>(launch);
}

auto StartFor(ElementType type) {
  switch (type) {
    case ElementType::kU8:
      return StartTyped<ElementType::kU8>;
    case ElementType::kF16:
      return StartTyped<ElementType::kF16>;
    case ElementType::kBf16:
      return StartTyped<ElementType::kBf16>;
    default:
      return StartTyped<ElementType::kF32>;
  }
}

void Check(const FinishOptions& options, int count) {
  CheckFinish(options);
  if (count < 0) {
    throw Error(ErrorKind::kInvalidArgument, "finishing a batch: count is " + std::to_string(count),
                {}, "give 0 or more");
  }
  const int64_t elements = int64_t{options.out_height} * options.out_width * options.channels;
  if (elements >= int64_t{1} << 31) {
    throw Error(ErrorKind::kUnsupported,
                "finishing a batch: a result has " + std::to_string(elements) + " elements", {},
                "the limit on a device is 2^31 - 1; finish such images on the host");
  }
}

}  // namespace

void LaunchFinishBlocks(const FinishOptions& options, const uint8_t* images,
                        const FinishGeometry* geometry, int count, void* out, CUstream_st* stream,
                        uint32_t threads) {
  Check(options, count);
  if (count == 0) return;
  const auto place = reinterpret_cast<uintptr_t>(out);
  const size_t alignment = place & -place;
  const FinishGrid grid = MakeGrid(options, alignment);
  const cudaError_t error = StartFor(options.type)(
      {grid, images, geometry, static_cast<uint32_t>(count), out, stream, threads});
  if (error != cudaSuccess) {
    cudaGetLastError();  // clears it, so that no later call reports it
    throw Error(ErrorKind::kDevice, std::string("finishing a batch: the kernel did not start: ") +
                                        cudaGetErrorString(error));
  }
}

void LaunchFinish(const FinishOptions& options, const uint8_t* images,
                  const FinishGeometry* geometry, int count, void* out, CUstream_st* stream) {
  LaunchFinishBlocks(options, images, geometry, count, out, stream, kFinishThreads);
}

}  // namespace recpack
