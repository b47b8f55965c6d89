// Needs a GPU. One rank only: NCCL takes no two on one.
#include "recpack/train/nccl_collective.h"

#include <cuda_runtime.h>
#include <gmock/gmock.h>

#include <stdexcept>

#include "recpack/base/error.h"
#include "tests/pipeline/error_of.h"
#include "tests/train/collectives/collective_contract.h"

namespace recpack {
namespace {

void CheckCuda(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

// Arrays of the host, carried through the device's memory.
class ThroughDevice final : public Collective {
 public:
  explicit ThroughDevice(std::unique_ptr<Collective> nccl)
      : Collective(nccl->rank(), nccl->size()), nccl_(std::move(nccl)) {
    CheckCuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  ~ThroughDevice() override { cudaStreamDestroy(stream_); }

  void Abort(const std::string& reason) noexcept override { nccl_->Abort(reason); }
  void Check() override { nccl_->Check(); }

 private:
  // Memory of the device for as long as it lives.
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
  }

  void Copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    if (bytes > 0) CheckCuda(cudaMemcpyAsync(to, from, bytes, kind, stream_));
  }

  const std::unique_ptr<Collective> nccl_;
  cudaStream_t stream_ = nullptr;
};

// Where there is no GPU, its cases are skipped.
class NcclWorld final : public World {
 public:
  int size() const override { return 1; }
  void Sync() override {}
  void Run(const CollectiveOptions& options, const Body& body) override {
    auto nccl = NcclCollective(std::move(ThreadCollectives(1, options)[0]), 0, options);
    EXPECT_EQ(nccl->device(), 0);
    body(std::make_unique<ThroughDevice>(std::move(nccl)));
  }
};

std::unique_ptr<World> OneGpu() { return std::make_unique<NcclWorld>(); }

INSTANTIATE_TEST_SUITE_P(Nccl, CollectiveContract,
                         testing::Values(WorldKind{"Nccl1", OneGpu, NcclUnavailable()}), WorldName);

TEST(NcclCollective, SaysWhatIsMissing) {
  const std::string missing = NcclUnavailable();
  if (missing.empty()) GTEST_SKIP() << "there is a GPU";
  const Error error = ErrorOf([] { NcclCollective(std::move(ThreadCollectives(1)[0]), 0); });
  EXPECT_THAT(error.kind(), testing::AnyOf(ErrorKind::kUnsupported, ErrorKind::kDevice));
  EXPECT_THAT(error.what(), testing::AnyOf(testing::HasSubstr("CUDA"), testing::HasSubstr("NCCL")));
}

}  // namespace
}  // namespace recpack
