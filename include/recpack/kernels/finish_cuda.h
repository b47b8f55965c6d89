// Finishing of whole batches on a CUDA device, in the library recpack::kernels_cuda, which is built
// if CMake finds a CUDA compiler. Compiled, not yet run on a GPU; its arithmetic is tested on the
// host, thread by thread.
#pragma once

#include <cstdint>

#include "recpack/kernels/finish.h"

struct CUstream_st;  // what cudaStream_t points to

namespace recpack {

// Finishes `count` images on the current device: launches a kernel on `stream` and returns. Results
// are bit-identical to those of Finisher.
//
//   images    `count` contiguous sources of in_height * in_width * channels bytes each
//   geometry  `count` entries
//   out       memory for `count` results, aligned to the element; fastest if aligned to 4 elements
//
// All three must be accessible to the device, must not overlap, and must stay valid until the
// kernel has finished. Throws Error: kInvalidArgument for options that Finisher refuses and a
// negative count, kUnsupported for results of 2^31 elements or more, kDevice if the kernel cannot
// be launched.
void LaunchFinish(const FinishOptions& options, const uint8_t* images,
                  const FinishGeometry* geometry, int count, void* out, CUstream_st* stream);

}  // namespace recpack
