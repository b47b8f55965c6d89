// Collectives between emulated GPUs.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/train/collective.h"

namespace recpack {

// Sums and broadcasts of the device's memory, brought to the host's and back in the stream's order.
class ThroughHost final : public Collective {
 public:
  ThroughHost(std::shared_ptr<Collective> host, int device)
      : Collective(host->rank(), host->size()), host_(std::move(host)), device_(device) {}

  int device() const noexcept override { return device_; }
  Collective& host() noexcept override { return *host_; }
  void Abort(const std::string& reason) noexcept override { host_->Abort(reason); }
  void Check() override { host_->Check(); }

  // A kind that counts the calls of all its collectives.
  static GpuCollectives Kind(std::atomic<int>& calls) {
    return {"the emulated library", [] { return std::string(); },
            [&calls](std::shared_ptr<Collective> host, int device) {
              auto made = std::make_unique<ThroughHost>(std::move(host), device);
              made->calls_ = &calls;
              return made;
            }};
  }

 private:
  void Run(const CollectiveCall& call, DeviceStream stream) override {
    ++*calls_;
    const bool sum = call.op == CollectiveOp::kAllReduce;
    std::vector<float> values((call.count * (sum ? sizeof(float) : 1) + 3) / sizeof(float));
    const size_t bytes = sum ? values.size() * sizeof(float) : call.count;
    CheckCuda(cudaSetDevice(device_));
    CheckCuda(cudaMemcpyAsync(values.data(), call.in, bytes, cudaMemcpyDeviceToHost, stream));
    CheckCuda(cudaStreamSynchronize(stream));
    if (sum) {
      host_->AllReduce(values);
    } else {
      host_->Broadcast(std::as_writable_bytes(std::span(values)).first(bytes), call.root);
    }
    CheckCuda(cudaMemcpyAsync(call.out, values.data(), bytes, cudaMemcpyHostToDevice, stream));
  }

  static void CheckCuda(cudaError_t error) {
    if (error != cudaSuccess) throw Error(ErrorKind::kDevice, cudaGetErrorName(error));
  }

  const std::shared_ptr<Collective> host_;
  const int device_;
  std::atomic<int>* calls_ = nullptr;
};

}  // namespace recpack
