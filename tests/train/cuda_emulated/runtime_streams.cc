// Emulated CUDA runtime: streams, events and kernels.
#include <cuda_runtime.h>

#include <chrono>
#include <functional>

#include "tests/train/cuda_emulated/grid.h"
#include "tests/train/cuda_emulated/kernel_language.h"
#include "tests/train/cuda_emulated/machine.h"

namespace recpack::emulated {
namespace {

constexpr unsigned kThreadsOfBlock = 1024, kGridAxis = 65535;  // limits of every GPU

bool Valid(const dim3& grid, const dim3& block) {
  const auto none = [](const dim3& one) { return one.x == 0 || one.y == 0 || one.z == 0; };
  if (none(grid) || none(block)) return false;
  if (grid.x > 0x7fffffff || grid.y > kGridAxis || grid.z > kGridAxis) return false;
  if (block.x > kThreadsOfBlock || block.y > kThreadsOfBlock || block.z > 64) return false;
  return uint64_t{block.x} * block.y * block.z <= kThreadsOfBlock;
}

cudaError_t FailedOf(const Machine& machine, int device) {
  return machine.devices[static_cast<size_t>(device)].failed;
}

// Calls it with the stream, or returns the error that there is none.
template <typename Body>
cudaError_t WithStream(const char* name, Safety safety, cudaStream_t handle, const Body& body) {
  return Call(name, safety, [&](Machine& machine) {
    const auto stream = machine.StreamOf(handle);
    return stream ? body(machine, *stream) : cudaErrorInvalidResourceHandle;
  });
}

template <typename Body>
cudaError_t WithEvent(const char* name, Safety safety, cudaEvent_t event, const Body& body) {
  return Call(name, safety, [&](Machine& machine) {
    return machine.events.contains(event) ? body(machine) : cudaErrorInvalidResourceHandle;
  });
}

// Records an event in a stream, or in each launch of the graph that the stream is captured into.
cudaError_t Record(const char* name, cudaEvent_t event, cudaStream_t handle, unsigned flags) {
  return WithEvent(name, Safety::kSafe, event, [&](Machine& machine) {
    const auto stream = machine.StreamOf(handle);
    if (!stream || (*stream)->device != event->device) return cudaErrorInvalidResourceHandle;
    if (!(*stream)->capture) {
      if ((flags & cudaEventRecordExternal) != 0) return cudaErrorInvalidValue;
      event->capture = nullptr;
      event->recorded = machine.streams.Enqueue(*stream, {.device = event->device},
                                                machine.ImplicitOrder(*stream));
      return FailedOf(machine, event->device);
    }
    if ((flags & cudaEventRecordExternal) == 0) return machine.captures.Record(event, *stream);
    return machine.captures.Add(
        *stream, {.kind = Node::Kind::kRecord, .work = {.device = event->device}, .event = event});
  });
}

}  // namespace

cudaError_t LaunchGrid(const cudaLaunchConfig_t& config, std::function<void()> thread) {
  return WithStream(
      "cudaLaunchKernelEx", Safety::kSafe, config.stream,
      [&](Machine& machine, cudaStream_t stream) {
        if (!Valid(config.gridDim, config.blockDim)) return cudaErrorInvalidConfiguration;
        if (config.dynamicSmemBytes > 0) return cudaErrorNotSupported;
        if (stream->device != CurrentDevice()) return cudaErrorInvalidResourceHandle;
        return machine.Submit(
            stream, Node::Kind::kKernel,
            [&random = machine.streams.random(), grid = config.gridDim, block = config.blockDim,
             thread = std::move(thread)] { RunGrid(grid, block, thread, random); });
      });
}

}  // namespace recpack::emulated

using namespace recpack::emulated;  // NOLINT: their functions are CUDA's

cudaError_t CUDARTAPI cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return Call("cudaStreamCreateWithFlags", [&](Machine& machine) {
    if (CurrentDevice() >= machine.options.devices) return cudaErrorInvalidDevice;
    if (flags > cudaStreamNonBlocking) return cudaErrorInvalidValue;
    *stream = machine.streams.Create(CurrentDevice());
    (*stream)->blocking = flags == cudaStreamDefault;
    return cudaSuccess;
  });
}
cudaError_t CUDARTAPI cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
cudaError_t CUDARTAPI cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}

// Its pending work still runs.
cudaError_t CUDARTAPI cudaStreamDestroy(cudaStream_t stream) {
  return Call("cudaStreamDestroy", [&](Machine& machine) {
    if (!stream || !machine.streams.Knows(stream)) return cudaErrorInvalidResourceHandle;
    machine.streams.Destroy(stream);
    return cudaSuccess;
  });
}

cudaError_t CUDARTAPI cudaStreamSynchronize(cudaStream_t handle) {
  return WithStream("cudaStreamSynchronize", Safety::kUnsafe, handle,
                    [](Machine& machine, cudaStream_t stream) {
                      if (stream->capture) {
                        return Captures::Invalidate(stream, cudaErrorStreamCaptureUnsupported);
                      }
                      machine.streams.RunUntil(stream->last);
                      return FailedOf(machine, stream->device);
                    });
}

cudaError_t CUDARTAPI cudaStreamQuery(cudaStream_t handle) {
  return WithStream("cudaStreamQuery", Safety::kUnsafe, handle,
                    [](Machine& machine, cudaStream_t stream) {
                      if (stream->capture) {
                        return Captures::Invalidate(stream, cudaErrorStreamCaptureUnsupported);
                      }
                      machine.streams.RunSome(true);
                      const bool done = !stream->last || stream->last->done;
                      return done ? FailedOf(machine, stream->device) : cudaErrorNotReady;
                    });
}

cudaError_t CUDARTAPI cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned flags) {
  return WithStream(
      "cudaStreamWaitEvent", Safety::kSafe, handle, [&](Machine& machine, cudaStream_t stream) {
        if (!machine.events.contains(event)) return cudaErrorInvalidResourceHandle;
        if (stream->capture && (flags & cudaEventWaitExternal) != 0) {
          return machine.captures.Add(
              stream,
              {.kind = Node::Kind::kWait, .work = {.device = stream->device}, .event = event});
        }
        if (stream->capture || event->capture) return machine.captures.Wait(stream, event);
        if (event->recorded) stream->waits.push_back(event->recorded);
        return cudaSuccess;
      });
}

cudaError_t CUDARTAPI cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* data) {
  return WithStream("cudaLaunchHostFunc", Safety::kSafe, handle,
                    [&](Machine& machine, cudaStream_t stream) {
                      return machine.Submit(stream, Node::Kind::kHost, [=] { function(data); });
                    });
}

cudaError_t CUDARTAPI cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return Call("cudaEventCreateWithFlags", [&](Machine& machine) {
    if (CurrentDevice() >= machine.options.devices) return cudaErrorInvalidDevice;
    *event = new CUevent_st;
    (*event)->device = CurrentDevice();
    (*event)->timing = (flags & cudaEventDisableTiming) == 0;
    machine.events.insert(*event);
    return cudaSuccess;
  });
}
cudaError_t CUDARTAPI cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t CUDARTAPI cudaEventDestroy(cudaEvent_t event) {
  return WithEvent("cudaEventDestroy", Safety::kSafe, event, [&](Machine& machine) {
    machine.events.erase(event);
    delete event;
    return cudaSuccess;
  });
}

cudaError_t CUDARTAPI cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return Record("cudaEventRecord", event, stream, cudaEventRecordDefault);
}
cudaError_t CUDARTAPI cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                               unsigned flags) {
  return Record("cudaEventRecordWithFlags", event, stream, flags);
}

cudaError_t CUDARTAPI cudaEventSynchronize(cudaEvent_t event) {
  return WithEvent("cudaEventSynchronize", Safety::kUnsafe, event, [&](Machine& machine) {
    if (event->capture) return cudaErrorCapturedEvent;
    machine.streams.RunUntil(event->recorded);
    return FailedOf(machine, event->device);
  });
}

cudaError_t CUDARTAPI cudaEventQuery(cudaEvent_t event) {
  return WithEvent("cudaEventQuery", Safety::kUnsafe, event, [&](Machine& machine) {
    if (event->capture) return cudaErrorCapturedEvent;
    machine.streams.RunSome(true);
    const bool done = !event->recorded || event->recorded->done;
    return done ? FailedOf(machine, event->device) : cudaErrorNotReady;
  });
}

cudaError_t CUDARTAPI cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin,
                                           cudaEvent_t end) {
  return WithEvent("cudaEventElapsedTime", Safety::kSafe, begin, [&](const Machine& machine) {
    if (!machine.events.contains(end) || begin->device != end->device || !begin->timing ||
        !end->timing || !begin->recorded || !end->recorded) {
      return cudaErrorInvalidResourceHandle;
    }
    if (!begin->recorded->done || !end->recorded->done) return cudaErrorNotReady;
    *milliseconds =
        std::chrono::duration<float, std::milli>(end->recorded->at - begin->recorded->at).count();
    return cudaSuccess;
  });
}
