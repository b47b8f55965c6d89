#include "tests/train/cuda_emulated/capture.h"

#include <algorithm>
#include <utility>

namespace recpack::emulated {
namespace {

thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

void Join(cudaStream_t stream, const CaptureOf& capture) {
  stream->capture = capture;
  stream->tips.clear();
  capture->streams.push_back(stream);
}

void Merge(std::vector<size_t>& into, const std::vector<size_t>& tips) {
  for (const size_t tip : tips) {
    if (std::find(into.begin(), into.end(), tip) == into.end()) into.push_back(tip);
  }
}

// Tells whether everything captured precedes what the first stream would do next.
bool Joined(const Capture& capture) {
  std::vector<bool> reached(capture.nodes.size());
  std::vector<size_t> next = capture.origin->tips;
  while (!next.empty()) {
    const size_t node = next.back();
    next.pop_back();
    if (reached[node]) continue;
    reached[node] = true;
    next.insert(next.end(), capture.nodes[node].after.begin(), capture.nodes[node].after.end());
  }
  return std::all_of(reached.begin(), reached.end(), [](bool one) { return one; });
}

}  // namespace

cudaError_t Captures::Begin(cudaStream_t stream, cudaStreamCaptureMode mode) {
  if (stream->capture) return cudaErrorIllegalState;
  auto capture = std::make_shared<Capture>();
  capture->origin = stream;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->id = ++last_id_;
  Join(stream, capture);
  captures_.push_back(std::move(capture));
  return cudaSuccess;
}

cudaError_t Captures::End(cudaStream_t stream, std::vector<Node>* nodes) {
  const CaptureOf capture = stream->capture;
  if (!capture) return cudaErrorIllegalState;
  if (capture->mode != cudaStreamCaptureModeRelaxed &&
      capture->thread != std::this_thread::get_id()) {
    return cudaErrorStreamCaptureWrongThread;
  }
  if (capture->origin != stream) return Invalidate(stream, cudaErrorStreamCaptureUnmatched);
  const bool joined = Joined(*capture);
  for (const cudaStream_t one : capture->streams) {
    one->capture = nullptr;
    one->tips.clear();
  }
  std::erase(captures_, capture);
  if (capture->invalid) return cudaErrorStreamCaptureInvalidated;
  if (!joined) return cudaErrorStreamCaptureUnjoined;
  *nodes = std::move(capture->nodes);
  return cudaSuccess;
}

cudaError_t Captures::Add(cudaStream_t stream, Node node) {
  Capture& capture = *stream->capture;
  if (capture.invalid) return cudaErrorStreamCaptureInvalidated;
  node.after = stream->tips;
  stream->tips = {capture.nodes.size()};
  capture.nodes.push_back(std::move(node));
  return cudaSuccess;
}

cudaError_t Captures::Record(cudaEvent_t event, cudaStream_t stream) {
  if (stream->capture->invalid) return cudaErrorStreamCaptureInvalidated;
  event->capture = stream->capture;
  event->tips = stream->tips;
  return cudaSuccess;
}

cudaError_t Captures::Wait(cudaStream_t stream, cudaEvent_t event) {
  if (stream->capture && stream->capture->invalid) return cudaErrorStreamCaptureInvalidated;
  if (!event->capture) {  // recorded outside of the capture, or never
    if (!event->recorded) return cudaSuccess;
    return Invalidate(stream, cudaErrorStreamCaptureIsolation);
  }
  const bool goes_on =
      std::find(captures_.begin(), captures_.end(), event->capture) != captures_.end();
  if (!goes_on || event->capture->invalid) return cudaErrorCapturedEvent;
  if (!stream->capture) Join(stream, event->capture);
  if (stream->capture != event->capture) return Invalidate(stream, cudaErrorStreamCaptureMerge);
  Merge(stream->tips, event->tips);
  return cudaSuccess;
}

bool Captures::Forbid() {
  if (thread_mode == cudaStreamCaptureModeRelaxed) return false;
  bool forbidden = false;
  for (const CaptureOf& capture : captures_) {
    const bool own = capture->thread == std::this_thread::get_id() &&
                     capture->mode != cudaStreamCaptureModeRelaxed;
    const bool anothers =
        capture->mode == cudaStreamCaptureModeGlobal && thread_mode == cudaStreamCaptureModeGlobal;
    if (!own && !anothers) continue;
    capture->invalid = true;
    forbidden = true;
  }
  return forbidden;
}

cudaStreamCaptureMode Captures::ExchangeMode(cudaStreamCaptureMode mode) {
  return std::exchange(thread_mode, mode);
}

cudaError_t Captures::Invalidate(cudaStream_t stream, cudaError_t error) {
  if (stream->capture) stream->capture->invalid = true;
  return error;
}

}  // namespace recpack::emulated
