// Devices of CUDA: convolutions by cuDNN 9, matrix products by cuBLASLt, all else by kernels of
// ours. Run on an emulation in CI, not yet run on a GPU.
#pragma once

#include <memory>

#include "src/train/ops/ops.h"

namespace recpack::train {

struct CudaOptions {
  int device = 0;    // as CUDA numbers them
  bool tf32 = true;  // products of f32 are of inputs rounded to TF32 (10 bits of fraction)
};

// A logical device: several of them on one GPU have a stream and memory each. Work is enqueued on
// that stream, Ops::Stream(), and no operation waits or allocates but
//   Upload() of more than 1024 bytes, Download(), Synchronise(): wait for all that was enqueued
//   before, BatchNorm with sum_over_devices: waits, since the hook takes sums on the host,
//   SoftmaxCrossEntropy(), SquaredError(): allocate when the batch is larger than any before it.
// so that Ops::Capture() takes all others, once every operation was made: work is a CUDA graph, and
// Upload()'s few bytes are part of it. Ops::Beside() has a second stream, with a workspace of its
// own.
//
// The same calls on the same GPU give the same bits. Gradients of bf16 convolutions' weights are
// rounded to bf16 by cuDNN before they become f32.
//
// Throws Error: kUnsupported where this build has no CUDA half, kDevice where there is no such
// device, where cuDNN or cuBLASLt cannot be loaded (both are looked for now, not when the program
// starts), and for memory that is not to be had.
std::unique_ptr<Ops> MakeCudaOps(const CudaOptions& options = {});

}  // namespace recpack::train
