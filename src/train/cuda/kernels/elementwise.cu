#include "src/train/cuda/kernels/kernels.h"
#include "src/train/cuda/kernels/launch.h"

namespace recpack::train {
namespace {

struct Relu {
  __device__ float operator()(float x) const { return Rectify(x); }
};
struct Tanh {
  __device__ float operator()(float x) const { return tanhf(x); }
};
// Uses the output y and its gradient.
struct ReluBackward {
  __device__ float operator()(float y, float dy) const { return y > 0 ? dy : 0; }
};
struct TanhBackward {
  __device__ float operator()(float y, float dy) const { return dy * (1 - y * y); }
};
struct Sum {
  __device__ float operator()(float x, float to) const { return to + x; }
};

template <typename T, int kCount, typename Function>
__global__ void MapOne(size_t groups, const T* x, T* y, const Function function) {
  const size_t step = size_t{gridDim.x} * kThreads;
  for (size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x; i < groups; i += step) {
    float value[kCount];
    Load(x + i * kCount, value);
    for (int j = 0; j < kCount; ++j) value[j] = function(value[j]);
    Store(value, y + i * kCount);
  }
}

template <typename T, int kCount, typename Function>
__global__ void MapTwo(size_t groups, const T* a, const T* b, T* to, const Function function) {
  const size_t step = size_t{gridDim.x} * kThreads;
  for (size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x; i < groups; i += step) {
    float one[kCount], other[kCount];
    Load(a + i * kCount, one);
    Load(b + i * kCount, other);
    for (int j = 0; j < kCount; ++j) one[j] = function(one[j], other[j]);
    Store(one, to + i * kCount);
  }
}

template <typename Function>
void StartOne(const char* what, ElementType type, const void* x, void* y, size_t count,
              const Function& function, cudaStream_t stream) {
  if (count == 0) return;
  AsElement(type, [&](auto element) {
    using T = decltype(element);
    const auto* from = static_cast<const T*>(x);
    auto* to = static_cast<T*>(y);
    AsVector<T>(count % kVector<T> == 0 && Aligned(from, to), [&](auto vector) {
      const size_t groups = count / vector();
      Launch(what, MapOne<T, vector(), Function>, GridFor(groups), dim3(kThreads), stream, groups,
             from, to, function);
    });
  });
}

template <typename Function>
void StartTwo(const char* what, ElementType type, const void* a, const void* b, void* y,
              size_t count, const Function& function, cudaStream_t stream) {
  if (count == 0) return;
  AsElement(type, [&](auto element) {
    using T = decltype(element);
    const auto* one = static_cast<const T*>(a);
    const auto* other = static_cast<const T*>(b);
    auto* to = static_cast<T*>(y);
    AsVector<T>(count % kVector<T> == 0 && Aligned(one, other, to), [&](auto vector) {
      const size_t groups = count / vector();
      Launch(what, MapTwo<T, vector(), Function>, GridFor(groups), dim3(kThreads), stream, groups,
             one, other, to, function);
    });
  });
}

__global__ void SgdStep(const SgdUpdate update, float* value, const float* gradient,
                        float* velocity, size_t count) {
  const float rate = update.rates ? update.rates->rate : update.rate;
  const size_t step = size_t{gridDim.x} * kThreads;
  for (size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += step) {
    const float moved = update.momentum * velocity[i] + (gradient[i] + update.decay * value[i]);
    velocity[i] = moved;
    value[i] -= rate * moved;
  }
}

__global__ void AdamStep(const AdamUpdate update, const UpdateRates given, float* value,
                         const float* gradient, float* first, float* second, size_t count) {
  const UpdateRates rates = update.rates ? *update.rates : given;
  const size_t step = size_t{gridDim.x} * kThreads;
  for (size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += step) {
    const float g = gradient[i];
    const float mean = update.beta1 * first[i] + (1 - update.beta1) * g;
    const float square = update.beta2 * second[i] + (1 - update.beta2) * g * g;
    first[i] = mean;
    second[i] = square;
    const float size = sqrtf(square * rates.correction) + update.epsilon;
    value[i] -= rates.corrected * mean / size + rates.rate * update.decay * value[i];
  }
}

__global__ void StoreFew(const FewBytes bytes, size_t count, uint8_t* to) {
  if (threadIdx.x < count) to[threadIdx.x] = bytes.of[threadIdx.x];
}

}  // namespace

void LaunchActivate(Activation activation, ElementType type, const void* x, void* y, size_t count,
                    CUstream_st* stream) {
  if (activation == Activation::kRelu) {
    StartOne("ReLU", type, x, y, count, Relu(), stream);
  } else {
    StartOne("tanh", type, x, y, count, Tanh(), stream);
  }
}

void LaunchActivateBackward(Activation activation, ElementType type, const void* y, const void* dy,
                            void* dx, size_t count, CUstream_st* stream) {
  if (activation == Activation::kRelu) {
    StartTwo("ReLU's gradient", type, y, dy, dx, count, ReluBackward(), stream);
  } else {
    StartTwo("tanh's gradient", type, y, dy, dx, count, TanhBackward(), stream);
  }
}

void LaunchAdd(ElementType type, const void* x, void* to, size_t count, CUstream_st* stream) {
  StartTwo("an addition", type, x, to, to, count, Sum(), stream);
}

void LaunchSgd(const SgdUpdate& update, float* value, const float* gradient, float* velocity,
               size_t count, CUstream_st* stream) {
  if (count == 0) return;
  Launch("SGD", SgdStep, GridFor(count), dim3(kThreads), stream, update, value, gradient, velocity,
         count);
}

void LaunchAdam(const AdamUpdate& update, float* value, const float* gradient, float* first,
                float* second, size_t count, CUstream_st* stream) {
  if (count == 0) return;
  Launch("Adam", AdamStep, GridFor(count), dim3(kThreads), stream, update, ToRates(update), value,
         gradient, first, second, count);
}

void LaunchStore(void* to, const FewBytes& bytes, size_t count, CUstream_st* stream) {
  if (count == 0) return;
  Launch("a store", StoreFew, dim3(1), dim3(sizeof bytes.of), stream, bytes, count,
         static_cast<uint8_t*>(to));
}

}  // namespace recpack::train
