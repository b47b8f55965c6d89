// CUDA backend: convolutions by cuDNN 9, matrix products by cuBLASLt, everything else by our own
// kernels. CI runs it on an emulation; not yet run on a GPU.
#pragma once

#include <memory>

#include "src/train/ops/ops.h"

namespace recpack::train {

struct CudaOptions {
  int device = 0;    // as CUDA numbers them
  bool tf32 = true;  // f32 products round their inputs to TF32 (10 bits of fraction)
};

// Makes a logical device; several of them on one GPU have a stream and memory each. Work is
// enqueued on the stream, Ops::Stream(). No operation waits or allocates, except:
// - Upload() of more than 1024 bytes, Download(), Synchronise(): wait for all earlier work,
// - BatchNorm with sum_over_devices: waits, since the hook takes sums on the host,
// - SoftmaxCrossEntropy(), SquaredError(): allocate if the batch is larger than any before.
// Ops::Capture() therefore accepts all other operations, once they have been made; a capture is a
// CUDA graph, and includes the bytes of small Upload()s. Ops::Beside() uses a second stream with a
// workspace of its own.
//
// The same calls on the same GPU give the same bits. cuDNN rounds weight gradients of bf16
// convolutions to bf16 before they become f32.
//
// Throws Error: kUnsupported if this build has no CUDA backend; kDevice if there is no such device,
// if cuDNN or cuBLASLt cannot be loaded (both are loaded now, not at program start), and for failed
// allocations.
std::unique_ptr<Ops> MakeCudaOps(const CudaOptions& options = {});

}  // namespace recpack::train
