// Runs collectives of GPUs in the suite of host collectives.
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <stdexcept>
#include <utility>

#include "src/train/collectives/collective.h"

namespace recpack::train {

inline void CheckCuda(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

// Copies host arrays through device memory. A call returns once it is done on the device.
class ThroughDevice final : public Collective {
 public:
  // Used on the thread that makes it.
  explicit ThroughDevice(std::unique_ptr<Collective> nccl)
      : Collective(nccl->rank(), nccl->size()), nccl_(std::move(nccl)) {
    CheckCuda(cudaSetDevice(nccl_->device()));
    CheckCuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  ~ThroughDevice() override {
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }

  void Abort(const std::string& reason) noexcept override { nccl_->Abort(reason); }
  void Check() override { nccl_->Check(); }

 private:
  // Device memory for the life of this object.
  struct Array {
    explicit Array(size_t bytes) { CheckCuda(cudaMalloc(&data, bytes + 1)); }
    ~Array() { cudaFree(data); }
    std::span<float> Floats(size_t count) const { return {static_cast<float*>(data), count}; }
    std::span<std::byte> Bytes(size_t count) const {
      return {static_cast<std::byte*>(data), count};
    }
    void* data = nullptr;
  };

  void Run(const CollectiveCall& call, DeviceStream) override {
    const bool is_floats = call.op <= CollectiveOp::kReduceScatter;
    const size_t part = call.count * (is_floats ? sizeof(float) : 1);
    const size_t all = part * static_cast<size_t>(size());
    const bool scatters = call.op == CollectiveOp::kReduceScatter;
    const size_t out_bytes = call.op == CollectiveOp::kAllGather ? all : part;
    const Array in(all);
    const Array out(all);
    Copy(in.data, call.in, scatters ? all : part, cudaMemcpyHostToDevice);
    switch (call.op) {
      case CollectiveOp::kAllReduce:
        nccl_->AllReduce(in.Floats(call.count), stream_);
        return Fetch(call, in, part);
      case CollectiveOp::kReduce:
        nccl_->Reduce(in.Floats(call.count), call.root, stream_);
        return Fetch(call, in, part);
      case CollectiveOp::kBroadcast:
        nccl_->Broadcast(in.Bytes(call.count), call.root, stream_);
        return Fetch(call, in, part);
      case CollectiveOp::kReduceScatter:
        nccl_->ReduceScatter(in.Floats(all / sizeof(float)), out.Floats(call.count), stream_);
        return Fetch(call, out, out_bytes);
      case CollectiveOp::kAllGather:
        nccl_->AllGather(in.Bytes(call.count), out.Bytes(all), stream_);
        return Fetch(call, out, out_bytes);
      case CollectiveOp::kBarrier:
        return nccl_->Barrier();
    }
  }

  void Fetch(const CollectiveCall& call, const Array& from, size_t bytes) {
    Copy(call.out, from.data, bytes, cudaMemcpyDeviceToHost);
    CheckCuda(cudaStreamSynchronize(stream_));
    nccl_->Check();  // finds out whether it completed or was aborted
  }

  void Copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    if (bytes > 0) CheckCuda(cudaMemcpyAsync(to, from, bytes, kind, stream_));
  }

  const std::unique_ptr<Collective> nccl_;
  cudaStream_t stream_ = nullptr;
};

}  // namespace recpack::train
