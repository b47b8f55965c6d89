// Launch functions of our CUDA kernels. Each enqueues on `stream` and returns; pointers are to
// device memory. Throws Error: kDevice for a failed launch, kUnsupported for 2^31 or more elements
// and for types other than f32 and bf16.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/batch_norm.h"
#include "src/train/ops/ops.h"

struct CUstream_st;  // what cudaStream_t points to

namespace recpack::train {

// Shape of activations for per-channel operations.
struct ByChannel {
  int64_t batch = 0, channels = 0, plane = 1;  // plane: pixels per image
  ElementType type = ElementType::kF32;
  ImageLayout layout = ImageLayout::kNhwc;
};

// norm_sums.cu. Sums take two kernels, in a fixed order: per slice of pixels in f32, into
// `partial`, then over slices in double.

// Number of floats needed for `partial`.
size_t NormPartials(const ByChannel& shape);
// The partial sums that a sum over `shape` wrote: slices of 2 * channels floats.
struct NormSlices {
  const float* partial = nullptr;
  uint32_t slices = 0;
  uint32_t channels = 0;
};

// Like NormSums(), without `sums` and `squares`; `shift` may be null: 0.
NormSlices LaunchNormSums(const ByChannel& shape, const void* x, const float* shift, float* partial,
                          CUstream_st* stream);
// Like NormGradientSums(), without its totals.
NormSlices LaunchNormGradientSums(const ByChannel& shape, const NormGradientSumsArrays& arrays,
                                  NormMask mask, float* partial, CUstream_st* stream);
// norm_apply.cu. Like NormApply() and NormGradientApply().
void LaunchNormApply(const ByChannel& shape, const NormApplyArrays& arrays, bool relu,
                     CUstream_st* stream);
void LaunchNormGradientApply(const ByChannel& shape, const NormGradientApplyArrays& arrays,
                             NormMask mask, CUstream_st* stream);

// norm_fold.cu: per-channel results from the sums.

// shift[c] = the first value of channel c.
void LaunchNormFirst(const ByChannel& shape, const void* x, float* shift, CUstream_st* stream);

// Totals over slices, `channels` values each. Either output may be null.
void LaunchNormTotals(const NormSlices& sums, float* first, float* second, CUstream_st* stream);

struct NormFolded {  // owned by the caller; all per channel
  float* mean = nullptr;
  float* inverse_std = nullptr;
  float* factor = nullptr;
  float* term = nullptr;
};
// Computes the batch statistics, folded with scale and shift, and updates the running statistics.
// The sums are over `count` pixels, shifted by `shift`, which may be the running mean.
void LaunchNormStatistics(const NormSlices& sums, double count, const float* shift, float epsilon,
                          float momentum, const BatchNormVariables& variables, const NormFolded& to,
                          CUstream_st* stream);
// The same from the running statistics.
void LaunchNormRunning(uint32_t channels, float epsilon, const BatchNormVariables& variables,
                       const NormFolded& to, CUstream_st* stream);

struct NormGradients {
  float* d_scale = nullptr;  // both may be null: not needed
  float* d_shift = nullptr;
  float* of_g = nullptr;  // all three may be null: not needed
  float* of_x = nullptr;
  float* constant = nullptr;
};
void LaunchNormGradients(const NormSlices& sums, double count, const float* scale,
                         const NormFolded& folded, const NormGradients& to, CUstream_st* stream);

// elementwise.cu
void LaunchActivate(Activation activation, ElementType type, const void* x, void* y, size_t count,
                    CUstream_st* stream);
void LaunchActivateBackward(Activation activation, ElementType type, const void* y, const void* dy,
                            void* dx, size_t count, CUstream_st* stream);
void LaunchAdd(ElementType type, const void* x, void* to, size_t count, CUstream_st* stream);
void LaunchSgd(const SgdUpdate& update, float* value, const float* gradient, float* velocity,
               size_t count, CUstream_st* stream);
void LaunchAdam(const AdamUpdate& update, float* value, const float* gradient, float* first,
                float* second, size_t count, CUstream_st* stream);
// Passed to the device as a kernel argument, so the host does not wait for a copy.
struct FewBytes {
  uint8_t of[64];
};
void LaunchStore(void* to, const FewBytes& bytes, size_t count, CUstream_st* stream);

// convert.cu
void LaunchConvert(const Tensor& from, const Tensor& to, CUstream_st* stream);

// pooling.cu. `places`: per element of y, the position of the maximum in its window; null for
// averages.
void LaunchPooling(const PoolingSpec& spec, const void* x, void* y, uint32_t* places,
                   CUstream_st* stream);
void LaunchPoolingBackward(const PoolingSpec& spec, const void* dy, const uint32_t* places,
                           void* dx, CUstream_st* stream);

// losses.cu. `samples`: scratch, one LossSums per sample.
void LaunchSoftmaxCrossEntropy(const Tensor& logits, const int64_t* labels, const uint8_t* mask,
                               float scale, float* d_logits, LossSums* samples, LossSums* sums,
                               CUstream_st* stream);

// (prediction - target)^2. Leaves `bad_labels` of `sums` unchanged.
void LaunchSquaredError(const Tensor& predictions, const float* targets, const uint8_t* mask,
                        float scale, float* d_predictions, LossSums* samples, LossSums* sums,
                        CUstream_st* stream);

// embedding.cu
void LaunchEmbedding(const EmbeddingSpec& spec, const void* ids, const float* table, void* y,
                     LossSums* sums, CUstream_st* stream);
// Scratch: the batch's tokens and their positions, unsorted and sorted; one value per token.
struct EmbeddingOrder {
  uint32_t* keys = nullptr;
  uint32_t* sorted_keys = nullptr;
  uint32_t* places = nullptr;
  uint32_t* sorted_places = nullptr;
};
size_t EmbeddingSortBytes(const EmbeddingSpec& spec);  // for `sort_memory`
void LaunchEmbeddingBackward(const EmbeddingSpec& spec, const void* ids, const void* dy,
                             float* d_table, bool add, const EmbeddingOrder& order,
                             void* sort_memory, size_t sort_bytes, CUstream_st* stream);

// factorisation.cu. `factor_sums`: sums of factors[i][f] x_i, (batch, factors), written by the
// forward pass and read by the backward pass.
void LaunchFactorisation(const FactorisationSpec& spec,
                         const FactorisationArrays<const float>& variables, const void* first,
                         const void* second, float* factor_sums, float* y, CUstream_st* stream);
void LaunchFactorisationBackward(const FactorisationSpec& spec,
                                 const FactorisationArrays<const float>& variables,
                                 const void* first, const void* second, const float* factor_sums,
                                 const float* dy, void* d_first, void* d_second,
                                 const FactorisationArrays<float>& gradients, CUstream_st* stream);

}  // namespace recpack::train
