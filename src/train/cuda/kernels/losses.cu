#include "src/train/cuda/kernels/kernels.h"
#include "src/train/cuda/kernels/launch.h"

namespace recpack::train {
namespace {

constexpr uint32_t kOfSample = 64;  // threads

// One block per sample.
__global__ void SampleLosses(uint32_t classes, const float* all, const int64_t* labels,
                             const uint8_t* mask, float scale, float* d_logits, LossSums* samples) {
  __shared__ float largest[kOfSample];
  __shared__ uint32_t place[kOfSample];
  __shared__ float sums[kOfSample];
  const uint32_t thread = threadIdx.x;
  const float* logits = all + static_cast<size_t>(blockIdx.x) * classes;
  float* gradient = d_logits ? d_logits + static_cast<size_t>(blockIdx.x) * classes : nullptr;
  const int64_t label = labels[blockIdx.x];
  const bool known = label >= 0 && label < classes;
  const bool counts = !mask || mask[blockIdx.x] != 0;
  if (!known || !counts) {  // uniform over the block
    if (gradient) {
      for (uint32_t k = thread; k < classes; k += kOfSample) gradient[k] = 0;
    }
    if (thread == 0) samples[blockIdx.x] = {0, 0, 0, counts ? 1.0F : 0.0F};
    return;
  }

  uint32_t mine = min(thread, classes - 1);
  for (uint32_t k = thread; k < classes; k += kOfSample) {
    if (logits[k] > logits[mine]) mine = k;
  }
  largest[thread] = logits[mine];
  place[thread] = mine;
  for (uint32_t half = kOfSample / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread >= half) continue;
    const float other = largest[thread + half];
    const uint32_t there = place[thread + half];
    if (other > largest[thread] || (other == largest[thread] && there < place[thread])) {
      largest[thread] = other;
      place[thread] = there;
    }
  }
  __syncthreads();

  float sum = 0;
  for (uint32_t k = thread; k < classes; k += kOfSample) sum += expf(logits[k] - largest[0]);
  sums[thread] = sum;
  for (uint32_t half = kOfSample / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) sums[thread] += sums[thread + half];
  }
  __syncthreads();

  if (gradient) {
    for (uint32_t k = thread; k < classes; k += kOfSample) {
      const float share = expf(logits[k] - largest[0]) / sums[0];
      gradient[k] = scale * (share - (k == label ? 1.0F : 0.0F));
    }
  }
  if (thread != 0) return;
  samples[blockIdx.x] = {logf(sums[0]) - (logits[label] - largest[0]),
                         place[0] == label ? 1.0F : 0.0F, 1, 0};
}

__global__ void SampleErrors(uint32_t count, const float* predictions, const float* targets,
                             const uint8_t* mask, float scale, float* d_predictions,
                             LossSums* samples) {
  for (uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < count; i += gridDim.x * kThreads) {
    const bool counts = !mask || mask[i] != 0;
    const float error = counts ? predictions[i] - targets[i] : 0;
    if (d_predictions) d_predictions[i] = 2 * scale * error;
    samples[i] = {error * error, 0, counts ? 1.0F : 0.0F, 0};
  }
}

// Runs in one block, in a fixed order. `add_bad`: adds bad_labels to the existing value.
__global__ void AddSamples(uint32_t count, const LossSums* samples, bool add_bad, LossSums* to) {
  __shared__ double sums[4][kThreads];
  const uint32_t thread = threadIdx.x;
  double loss = 0, correct = 0, counted = 0, bad = 0;
  for (uint32_t i = thread; i < count; i += kThreads) {
    loss += samples[i].loss;
    correct += samples[i].correct;
    counted += samples[i].samples;
    bad += samples[i].bad_labels;
  }
  sums[0][thread] = loss;
  sums[1][thread] = correct;
  sums[2][thread] = counted;
  sums[3][thread] = bad;
  for (uint32_t half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread >= half) continue;
    for (auto& of : sums) of[thread] += of[thread + half];
  }
  if (thread != 0) return;
  *to = {static_cast<float>(sums[0][0]), static_cast<float>(sums[1][0]),
         static_cast<float>(sums[2][0]),
         static_cast<float>(sums[3][0]) + (add_bad ? to->bad_labels : 0)};
}

}  // namespace

void LaunchSoftmaxCrossEntropy(const Tensor& logits, const int64_t* labels, const uint8_t* mask,
                               float scale, float* d_logits, LossSums* samples, LossSums* sums,
                               CUstream_st* stream) {
  const uint32_t batch = Count32(logits.shape[0]), classes = Count32(logits.shape[1]);
  if (batch > 0) {
    Launch("softmax cross-entropy", SampleLosses, dim3(batch), dim3(kOfSample), stream, classes,
           static_cast<const float*>(logits.As<float>()), labels, mask, scale, d_logits, samples);
  }
  Launch("the sum of losses", AddSamples, dim3(1), dim3(kThreads), stream, batch,
         static_cast<const LossSums*>(samples), false, sums);
}

void LaunchSquaredError(const Tensor& predictions, const float* targets, const uint8_t* mask,
                        float scale, float* d_predictions, LossSums* samples, LossSums* sums,
                        CUstream_st* stream) {
  const uint32_t count = Count32(predictions.elements());
  if (count > 0) {
    Launch("squared errors", SampleErrors, GridFor(count), dim3(kThreads), stream, count,
           static_cast<const float*>(predictions.As<float>()), targets, mask, scale, d_predictions,
           samples);
  }
  Launch("the sum of squared errors", AddSamples, dim3(1), dim3(kThreads), stream, count,
         static_cast<const LossSums*>(samples), true, sums);
}

}  // namespace recpack::train
