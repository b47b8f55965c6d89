// Finishing whole batches on a CUDA device: of the library recpack::kernels_cuda, which is built
// where CMake finds a CUDA compiler. Compiled, not yet run on a GPU; its arithmetic is tested on
// the host, thread by thread.
#pragma once

#include <cstdint>

#include "recpack/kernels/finish.h"

struct CUstream_st;  // what cudaStream_t points to

namespace recpack {

// Finishes `count` images on the current device, in the order of `stream`: starts a kernel and
// returns. The bits are those of Finisher.
//
//   images    count sources, one behind the other (in_height * in_width * channels bytes each)
//   geometry  count of them
//   out       room for count results, aligned to the element; at 4 elements it is quickest
//
// All three lie in memory that the device can use, and are the kernel's until the stream has passed
// it. They must not overlap. Throws Error: kInvalidArgument for options that Finisher refuses and a
// negative count, kUnsupported for results of 2^31 elements and more, kDevice if the kernel could
// not be started.
void LaunchFinish(const FinishOptions& options, const uint8_t* images,
                  const FinishGeometry* geometry, int count, void* out, CUstream_st* stream);

}  // namespace recpack
