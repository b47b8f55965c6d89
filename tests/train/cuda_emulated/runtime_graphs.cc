// Emulated CUDA runtime: stream capture and graphs.
#include <cuda_runtime.h>

#include <algorithm>

#include "tests/train/cuda_emulated/machine.h"

namespace recpack::emulated {
namespace {

template <typename Body>
cudaError_t WithStream(const char* name, cudaStream_t handle, const Body& body) {
  return Call(name, [&](Machine& machine) {
    const auto stream = machine.StreamOf(handle);
    return stream ? body(machine, *stream) : cudaErrorInvalidResourceHandle;
  });
}

// Runs each node on a stream of its own, so that unordered nodes run in any order; the stream
// continues after all of them.
cudaError_t Launch(Machine& machine, cudaGraphExec_t exec, cudaStream_t stream) {
  const cudaError_t failed = machine.devices[static_cast<size_t>(stream->device)].failed;
  if (failed != cudaSuccess) return failed;
  std::vector<Token> before = machine.ImplicitOrder(stream);
  if (exec->last) before.push_back(exec->last);
  before = {machine.streams.Enqueue(stream, {.device = stream->device}, std::move(before))};
  std::vector<Token> tokens;
  for (const Node& node : exec->nodes) {
    std::vector<Token> after = before;
    for (const size_t one : node.after) after.push_back(tokens[one]);
    if (node.kind == Node::Kind::kWait && node.event->recorded) {
      after.push_back(node.event->recorded);
    }
    const cudaStream_t own = machine.streams.Create(node.work.device);
    tokens.push_back(machine.streams.Enqueue(own, node.work, std::move(after)));
    machine.streams.Destroy(own);
    if (node.kind == Node::Kind::kRecord) {
      node.event->capture = nullptr;
      node.event->recorded = tokens.back();
    }
  }
  exec->last = machine.streams.Enqueue(stream, {.device = stream->device}, std::move(tokens));
  return cudaSuccess;
}

bool SameShape(const std::vector<Node>& one, const std::vector<Node>& other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](const Node& a, const Node& b) {
                      return a.kind == b.kind && a.after == b.after &&
                             a.work.device == b.work.device && a.event == b.event;
                    });
}

}  // namespace
}  // namespace recpack::emulated

using namespace recpack::emulated;  // NOLINT: their functions are CUDA's

cudaError_t CUDARTAPI cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  return WithStream("cudaStreamBeginCapture", handle, [&](Machine& machine, cudaStream_t stream) {
    if (!handle) return cudaErrorStreamCaptureUnsupported;
    return machine.captures.Begin(stream, mode);
  });
}

cudaError_t CUDARTAPI cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  return WithStream("cudaStreamEndCapture", handle, [&](Machine& machine, cudaStream_t stream) {
    *graph = nullptr;
    std::vector<Node> nodes;
    const cudaError_t error = machine.captures.End(stream, &nodes);
    if (error != cudaSuccess) return error;
    *graph = new CUgraph_st{std::move(nodes)};
    machine.graphs.insert(*graph);
    return cudaSuccess;
  });
}

cudaError_t CUDARTAPI cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  return WithStream("cudaStreamIsCapturing", handle, [&](Machine&, cudaStream_t stream) {
    *status = !stream->capture           ? cudaStreamCaptureStatusNone
              : stream->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                         : cudaStreamCaptureStatusActive;
    return cudaSuccess;
  });
}

cudaError_t CUDARTAPI cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return Call("cudaThreadExchangeStreamCaptureMode", [&](Machine& machine) {
    *mode = machine.captures.ExchangeMode(*mode);
    return cudaSuccess;
  });
}

cudaError_t CUDARTAPI cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return Call("cudaGraphGetNodes", [&](const Machine& machine) {
    if (!machine.graphs.contains(graph)) return cudaErrorInvalidValue;
    if (nodes) return cudaErrorNotSupported;
    *count = graph->nodes.size();
    return cudaSuccess;
  });
}

cudaError_t CUDARTAPI cudaGraphDestroy(cudaGraph_t graph) {
  return Call("cudaGraphDestroy", [&](Machine& machine) {
    if (machine.graphs.erase(graph) == 0) return cudaErrorInvalidValue;
    delete graph;
    return cudaSuccess;
  });
}

cudaError_t CUDARTAPI cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                           unsigned long long) {
  return Call("cudaGraphInstantiate", Safety::kUnsafe, [&](Machine& machine) {
    if (!machine.graphs.contains(graph)) return cudaErrorInvalidValue;
    *exec = new CUgraphExec_st{graph->nodes, nullptr};
    machine.execs.insert(*exec);
    return cudaSuccess;
  });
}
cudaError_t CUDARTAPI cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                                    unsigned long long flags) {
  return cudaGraphInstantiate(exec, graph, flags);
}

// What was launched runs unchanged.
cudaError_t CUDARTAPI cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                          cudaGraphExecUpdateResultInfo* info) {
  return Call("cudaGraphExecUpdate", [&](const Machine& machine) {
    if (!machine.execs.contains(exec) || !machine.graphs.contains(graph)) {
      return cudaErrorInvalidValue;
    }
    const bool same = SameShape(exec->nodes, graph->nodes);
    if (info) {
      *info = {};
      info->result = same ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged;
    }
    if (!same) return cudaErrorGraphExecUpdateFailure;
    exec->nodes = graph->nodes;
    return cudaSuccess;
  });
}

cudaError_t CUDARTAPI cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return Call("cudaGraphExecDestroy", [&](Machine& machine) {
    if (machine.execs.erase(exec) == 0) return cudaErrorInvalidValue;
    delete exec;
    return cudaSuccess;
  });
}

cudaError_t CUDARTAPI cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t handle) {
  return WithStream("cudaGraphUpload", handle, [&](Machine& machine, cudaStream_t) {
    return machine.execs.contains(exec) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t CUDARTAPI cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t handle) {
  return WithStream("cudaGraphLaunch", handle, [&](Machine& machine, cudaStream_t stream) {
    if (!machine.execs.contains(exec)) return cudaErrorInvalidValue;
    if (stream->capture) return cudaErrorStreamCaptureUnsupported;
    return Launch(machine, exec, stream);
  });
}
