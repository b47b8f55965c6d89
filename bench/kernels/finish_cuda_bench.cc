// Finishing batches on a device, every size of block, beside copies within the device and from the
// host, in one run.
//
//   finish_cuda_bench [ROUNDS]
//
// Prints a JSON line a case: medians over rounds of the bytes read and written a second. The
// ceiling is a copy on the device that moves as many. Prints why, and ends with 0, where there is
// no device.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "kernels/cuda/finish_launch.h"

namespace recpack {
namespace {

constexpr int kLaunches = 10;  // a round

void Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "finish_cuda_bench: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(2);
}

struct Case {
  const char* name;
  int size, count;
  ImageLayout in, out;
  ElementType type;
};

constexpr ImageLayout kNhwc = ImageLayout::kNhwc, kNchw = ImageLayout::kNchw;
constexpr Case kCases[] = {
    {"32 pad-crop flip nchw to nchw f32", 32, 8192, kNchw, kNchw, ElementType::kF32},
    {"32 pad-crop flip nchw to nchw f16", 32, 8192, kNchw, kNchw, ElementType::kF16},
    {"32 pad-crop flip nchw to nchw u8", 32, 8192, kNchw, kNchw, ElementType::kU8},
    {"32 pad-crop flip nchw to nchw f32, batch 128", 32, 128, kNchw, kNchw, ElementType::kF32},
    {"224 flip nhwc to nchw f32", 224, 256, kNhwc, kNchw, ElementType::kF32},
    {"224 flip nhwc to nchw bf16", 224, 256, kNhwc, kNchw, ElementType::kBf16},
    {"224 flip nhwc to nhwc f16", 224, 256, kNhwc, kNhwc, ElementType::kF16},
    {"224 flip nhwc to nhwc u8", 224, 256, kNhwc, kNhwc, ElementType::kU8},
};

class Timer {
 public:
  Timer() {
    Check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
    Check(cudaEventCreate(&begin_), "an event");
    Check(cudaEventCreate(&end_), "an event");
  }

  // GB/s of `bytes` a launch; the median over rounds, the first one not counted.
  double Rate(size_t bytes, int rounds, const std::function<void()>& launch) {
    std::vector<double> rates;
    for (int round = -1; round < rounds; ++round) {
      Check(cudaEventRecord(begin_, stream), "recording");
      for (int i = 0; i < kLaunches; ++i) launch();
      Check(cudaEventRecord(end_, stream), "recording");
      Check(cudaEventSynchronize(end_), "waiting");
      float ms = 0;
      Check(cudaEventElapsedTime(&ms, begin_, end_), "the time");
      if (round >= 0) rates.push_back(static_cast<double>(bytes) * kLaunches / ms / 1e6);
    }
    std::ranges::sort(rates);
    return rates[rates.size() / 2];
  }

  cudaStream_t stream = nullptr;

 private:
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

void Run(const Case& one, int rounds, const char* device, Timer& timer) {
  FinishOptions o;
  o.in_layout = one.in;
  o.in_height = o.in_width = o.out_height = o.out_width = one.size;
  o.out_layout = one.out;
  o.type = one.type;
  const double mean[] = {0.485, 0.456, 0.406}, std[] = {0.229, 0.224, 0.225};
  o = MeanStd(o, mean, std);
  const auto count = static_cast<size_t>(one.count);
  const size_t in = size_t{3} * one.size * one.size * count, out = in * ElementBytes(one.type);
  std::vector<FinishGeometry> places(count);
  for (size_t i = 0; i < count; ++i) {
    const int margin = one.size == 32 ? 4 : 0, sides = 2 * margin + 1;
    places[i] = {static_cast<int>(i % sides) - margin, static_cast<int>(i / 3 % sides) - margin,
                 i % 2 == 1};
  }
  const size_t places_bytes = count * sizeof places[0];
  uint8_t *images = nullptr, *results = nullptr, *geometry = nullptr, *copy = nullptr;
  void* pinned = nullptr;
  Check(cudaMalloc(&images, in), "memory");
  Check(cudaMalloc(&results, out), "memory");
  Check(cudaMalloc(&geometry, places_bytes), "memory");
  Check(cudaMalloc(&copy, in + out), "memory");
  Check(cudaHostAlloc(&pinned, in, cudaHostAllocDefault), "pinned memory");
  Check(cudaMemset(images, 77, in), "filling");
  Check(cudaMemcpy(geometry, places.data(), places_bytes, cudaMemcpyHostToDevice), "copying");

  std::printf(
      "{\"bench\": \"kernels/finish_cuda\", \"device\": \"%s\", \"case\": \"%s\", \"batch\": %d, "
      "\"rounds\": %d, \"in_bytes\": %zu, \"out_bytes\": %zu",
      device, one.name, one.count, rounds, in, out);
  const double ceiling = timer.Rate(in + out, rounds, [&] {
    const size_t half = (in + out) / 2;
    Check(cudaMemcpyAsync(copy, copy + half, half, cudaMemcpyDeviceToDevice, timer.stream), "copy");
  });
  const double bus = timer.Rate(in, rounds, [&] {
    Check(cudaMemcpyAsync(images, pinned, in, cudaMemcpyHostToDevice, timer.stream), "copy");
  });
  std::printf(", \"device_copy_gb_per_s\": %.1f, \"host_to_device_gb_per_s\": %.1f", ceiling, bus);
  for (const uint32_t threads : {64U, 128U, kFinishThreads, 512U}) {
    const double rate = timer.Rate(in + out, rounds, [&] {
      LaunchFinishBlocks(o, images, reinterpret_cast<const FinishGeometry*>(geometry), one.count,
                         results, timer.stream, threads);
    });
    std::printf(", \"threads_%u_gb_per_s\": %.1f, \"threads_%u_of_copy\": %.3f", threads, rate,
                threads, rate / ceiling);
  }
  std::printf("}\n");
  for (uint8_t* memory : {images, results, geometry, copy}) Check(cudaFree(memory), "freeing");
  Check(cudaFreeHost(pinned), "freeing");
}

}  // namespace
}  // namespace recpack

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 9;
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess || devices == 0) {
    std::printf("{\"bench\": \"kernels/finish_cuda\", \"unavailable\": \"%s\"}\n",
                error == cudaSuccess ? "no CUDA device" : cudaGetErrorString(error));
    return 0;
  }
  cudaDeviceProp properties;
  recpack::Check(cudaGetDeviceProperties(&properties, 0), "properties");
  recpack::Timer timer;
  for (const recpack::Case& one : recpack::kCases) {
    recpack::Run(one, rounds, properties.name, timer);
  }
  return 0;
}
