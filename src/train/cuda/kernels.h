// The kernels of a CUDA device. Each function enqueues on `stream` and returns; pointers are into
// the device's memory. Throws Error: kDevice for a kernel that did not start, kUnsupported for what
// has 2^31 elements or more and for types other than f32 and bf16.
#pragma once

#include <cstddef>
#include <cstdint>

#include "recpack/kernels/batch_norm.h"
#include "src/train/ops/ops.h"

struct CUstream_st;  // what cudaStream_t points to

namespace recpack::train {

// Activations as what goes by channel sees them.
struct ByChannel {
  int64_t batch = 0, channels = 0, plane = 1;  // plane: pixels of a picture
  ValueType type = ValueType::kF32;
  ImageLayout layout = ImageLayout::kNhwc;
};

// norm.cu. Sums are made in two kernels, always in the same order: by slice of the pixels in f32,
// into `partial`, then over the slices in double.

// Floats that `partial` has room for.
size_t NormPartials(const ByChannel& shape);
// Of them, those that a sum over `shape` wrote: slices of 2 * channels floats.
struct NormSlices {
  const float* partial = nullptr;
  uint32_t slices = 0;
  uint32_t channels = 0;
};

// shift[c] = the first value of channel c.
void LaunchNormFirst(const ByChannel& shape, const void* x, float* shift, CUstream_st* stream);
// As NormSums(), with `sums` and `squares` left out; `shift` may be null: 0.
NormSlices LaunchNormSums(const ByChannel& shape, const void* x, const float* shift, float* partial,
                          CUstream_st* stream);
// As NormGradientSums(), likewise.
NormSlices LaunchNormGradientSums(const ByChannel& shape, const NormGradientSumsArrays& arrays,
                                  NormMask mask, float* partial, CUstream_st* stream);
// As NormApply() and NormGradientApply().
void LaunchNormApply(const ByChannel& shape, const NormApplyArrays& arrays, bool relu,
                     CUstream_st* stream);
void LaunchNormGradientApply(const ByChannel& shape, const NormGradientApplyArrays& arrays,
                             NormMask mask, CUstream_st* stream);

// norm_fold.cu: what follows from the sums, by channel.

// The sums themselves: first of the one, then of the other, `channels` each. Either may be null.
void LaunchNormTotals(const NormSlices& sums, float* first, float* second, CUstream_st* stream);

struct NormFolded {  // owned by whoever launches; all by channel
  float* mean = nullptr;
  float* inverse_std = nullptr;
  float* factor = nullptr;
  float* term = nullptr;
};
// From sums over `count` pixels, shifted by `shift`, which may be the running mean: the batch's
// statistics, folded with scale and shift, and the running statistics moved.
void LaunchNormStatistics(const NormSlices& sums, double count, const float* shift, float epsilon,
                          float momentum, const BatchNormVariables& variables, const NormFolded& to,
                          CUstream_st* stream);
// From the running statistics.
void LaunchNormRunning(uint32_t channels, float epsilon, const BatchNormVariables& variables,
                       const NormFolded& to, CUstream_st* stream);

struct NormGradients {
  float* d_scale = nullptr;  // null, both: not asked for
  float* d_shift = nullptr;
  float* of_g = nullptr;  // null, all three: not asked for
  float* of_x = nullptr;
  float* constant = nullptr;
};
void LaunchNormGradients(const NormSlices& sums, double count, const float* scale,
                         const NormFolded& folded, const NormGradients& to, CUstream_st* stream);

// elementwise.cu
void LaunchActivate(Activation activation, ValueType type, const void* x, void* y, size_t count,
                    CUstream_st* stream);
void LaunchActivateBackward(Activation activation, ValueType type, const void* y, const void* dy,
                            void* dx, size_t count, CUstream_st* stream);
void LaunchAdd(ValueType type, const void* x, void* to, size_t count, CUstream_st* stream);
void LaunchSgd(const SgdUpdate& update, float* value, const float* gradient, float* velocity,
               size_t count, CUstream_st* stream);
void LaunchAdam(const AdamUpdate& update, float* value, const float* gradient, float* first,
                float* second, size_t count, CUstream_st* stream);
// Goes to the device as an argument: the host does not wait for a copy.
struct FewBytes {
  uint8_t of[64];
};
void LaunchStore(void* to, const FewBytes& bytes, size_t count, CUstream_st* stream);

// convert.cu
void LaunchConvert(const Tensor& from, const Tensor& to, CUstream_st* stream);

// pooling.cu. `places`: by element of y, where in its window the maximum lies; null of averages.
void LaunchPooling(const PoolingSpec& spec, const void* x, void* y, uint32_t* places,
                   CUstream_st* stream);
void LaunchPoolingBackward(const PoolingSpec& spec, const void* dy, const uint32_t* places,
                           void* dx, CUstream_st* stream);

// losses.cu. `samples`: LossSums by sample, for its own use.
void LaunchSoftmaxCrossEntropy(const Tensor& logits, const int64_t* labels, const uint8_t* mask,
                               float scale, float* d_logits, LossSums* samples, LossSums* sums,
                               CUstream_st* stream);

// (prediction - target)^2. `bad_labels` of `sums` stays.
void LaunchSquaredError(const Tensor& predictions, const float* targets, const uint8_t* mask,
                        float scale, float* d_predictions, LossSums* samples, LossSums* sums,
                        CUstream_st* stream);

// embedding.cu
void LaunchEmbedding(const EmbeddingSpec& spec, const void* ids, const float* table, void* y,
                     LossSums* sums, CUstream_st* stream);
// The batch's tokens and their places, as they come and sorted; for its own use, one value a token.
struct EmbeddingOrder {
  uint32_t* keys = nullptr;
  uint32_t* sorted_keys = nullptr;
  uint32_t* places = nullptr;
  uint32_t* sorted_places = nullptr;
};
size_t EmbeddingSortBytes(const EmbeddingSpec& spec);  // of `sort_memory`
void LaunchEmbeddingBackward(const EmbeddingSpec& spec, const void* ids, const void* dy,
                             float* d_table, const EmbeddingOrder& order, void* sort_memory,
                             size_t sort_bytes, CUstream_st* stream);

// factorisation.cu. `factor_sums`: of factors[i][f] x_i, (batch, factors), which the first writes
// for the second.
void LaunchFactorisation(const FactorisationSpec& spec,
                         const FactorisationArrays<const float>& variables, const void* first,
                         const void* second, float* factor_sums, float* y, CUstream_st* stream);
void LaunchFactorisationBackward(const FactorisationSpec& spec,
                                 const FactorisationArrays<const float>& variables,
                                 const void* first, const void* second, const float* factor_sums,
                                 const float* dy, void* d_first, void* d_second,
                                 const FactorisationArrays<float>& gradients, CUstream_st* stream);

}  // namespace recpack::train
