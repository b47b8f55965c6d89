#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/cuda/context.h"

namespace recpack::train {
namespace {

class CudaGraph final : public CapturedWork {
 public:
  CudaGraph(CudaContext& context, cudaGraph_t graph) : context_(context) {
    const cudaError_t made = cudaGraphInstantiate(&graph_, graph, 0);
    cudaGraphDestroy(graph);
    Check(made, "cudaGraphInstantiate");
  }
  ~CudaGraph() override {
    cudaStreamSynchronize(context_.first_stream());  // the graph may still be running
    cudaGraphExecDestroy(graph_);
  }

  void Replay() override {
    Check(cudaGraphLaunch(graph_, context_.first_stream()), "cudaGraphLaunch");
  }

 private:
  const CudaContext& context_;
  cudaGraphExec_t graph_ = nullptr;
};

// Ends the capture in any case, since the stream is unusable until then.
class StreamCapture {
 public:
  explicit StreamCapture(CudaContext& context) : context_(context) {
    // Thread-local mode, so that other threads, such as the feeder's, may allocate.
    Check(cudaStreamBeginCapture(context.first_stream(), cudaStreamCaptureModeThreadLocal),
          "cudaStreamBeginCapture");
    context.SetCapturing(true);
  }
  ~StreamCapture() {
    if (!capturing_) return;
    cudaGraph_t graph = nullptr;
    End(&graph);
    if (graph) cudaGraphDestroy(graph);
    cudaGetLastError();  // clears the error, which is already reported
  }

  cudaGraph_t Take() {
    cudaGraph_t graph = nullptr;
    Check(End(&graph), "cudaStreamEndCapture");
    return graph;
  }

 private:
  cudaError_t End(cudaGraph_t* graph) {
    capturing_ = false;
    context_.SetCapturing(false);
    return cudaStreamEndCapture(context_.first_stream(), graph);
  }

  CudaContext& context_;
  bool capturing_ = true;
};

}  // namespace

std::unique_ptr<CapturedWork> CaptureGraph(CudaContext& context,
                                           const std::function<void()>& work) {
  try {
    StreamCapture capture(context);
    work();
    return std::make_unique<CudaGraph>(context, capture.Take());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kDevice) throw;
    throw Error(ErrorKind::kUnsupported,
                format("this work cannot be a CUDA graph: {}", error.what()));
  }
}

}  // namespace recpack::train
