#include <vector>

#include "src/train/cuda/context.h"
#include "src/train/cuda/runtime/errors.h"
#include "src/train/cuda/runtime/peer_access.h"

namespace recpack::train {
namespace {

class CudaExchangeStream final : public ExchangeStream {
 public:
  CudaExchangeStream(int device, SideStream& streams, size_t marks)
      : device_(device), beside_(streams), marks_(marks) {
    Attach();
    try {
      Check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
            "cudaStreamCreateWithFlags");
      for (cudaEvent_t& mark : marks_) Create(mark);
      Create(end_);
    } catch (...) {
      Release();
      throw;
    }
  }
  ~CudaExchangeStream() override { Release(); }
  CudaExchangeStream(const CudaExchangeStream&) = delete;
  CudaExchangeStream& operator=(const CudaExchangeStream&) = delete;

  void Mark(size_t mark) override {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaStream_t last = beside_.Last();
    Check(cudaStreamIsCapturing(last, &status), "cudaStreamIsCapturing");
    // In a graph, the event is recorded at launch, and other streams wait for it.
    const unsigned flags =
        status == cudaStreamCaptureStatusNone ? cudaEventRecordDefault : cudaEventRecordExternal;
    Check(cudaEventRecordWithFlags(marks_.at(mark), last, flags), "cudaEventRecordWithFlags");
  }
  void Await(size_t mark) override {
    Attach();
    Check(cudaStreamWaitEvent(stream_, marks_.at(mark), 0), "cudaStreamWaitEvent");
  }
  void Download(void* to, const void* from, size_t bytes) override {
    Copy(to, from, bytes, cudaMemcpyDeviceToHost);
    Wait();
  }
  void Upload(void* to, const void* from, size_t bytes) override {
    Copy(to, from, bytes, cudaMemcpyHostToDevice);
  }
  void Copy(void* to, const void* from, size_t bytes) override {
    Attach();
    for (const void* memory : {static_cast<const void*>(to), from}) {
      cudaPointerAttributes of;
      Check(cudaPointerGetAttributes(&of, memory), "cudaPointerGetAttributes");
      peers_.Reach(device_, of.device);
    }
    Copy(to, from, bytes, cudaMemcpyDeviceToDevice);
  }
  void Wait() override { Check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }
  DeviceStream Stream() const noexcept override { return stream_; }
  void Join() override {
    Check(cudaEventRecord(end_, stream_), "cudaEventRecord");
    Check(cudaStreamWaitEvent(beside_.first(), end_, 0), "cudaStreamWaitEvent");
  }

  std::shared_ptr<void> HostMemory(size_t bytes) override { return CudaHostMemory(bytes); }

 private:
  void Attach() const { Check(cudaSetDevice(device_), "cudaSetDevice"); }

  static void Create(cudaEvent_t& event) {
    Check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  }

  void Copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    Attach();
    if (bytes > 0) Check(cudaMemcpyAsync(to, from, bytes, kind, stream_), "cudaMemcpyAsync");
  }

  void Release() noexcept {
    if (stream_) cudaStreamSynchronize(stream_);
    for (const cudaEvent_t mark : marks_) {
      if (mark) cudaEventDestroy(mark);
    }
    if (end_) cudaEventDestroy(end_);
    if (stream_) cudaStreamDestroy(stream_);
  }

  const int device_;
  SideStream& beside_;
  cudaStream_t stream_ = nullptr;
  std::vector<cudaEvent_t> marks_;
  cudaEvent_t end_ = nullptr;
  PeerAccess peers_;
};

}  // namespace

std::unique_ptr<ExchangeStream> MakeCudaExchangeStream(int device, SideStream& streams,
                                                       size_t marks) {
  return std::make_unique<CudaExchangeStream>(device, streams, marks);
}

}  // namespace recpack::train
