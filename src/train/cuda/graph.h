// Work of a stream as a CUDA graph.
#pragma once

#include <functional>
#include <memory>

#include "src/train/cuda/context.h"

namespace recpack::train {

// What `work` enqueues on the context's stream and on those that wait for it, which its stream has
// to wait for in turn. As Ops::Capture().
std::unique_ptr<CapturedWork> CaptureGraph(CudaContext& context, const std::function<void()>& work);

}  // namespace recpack::train
