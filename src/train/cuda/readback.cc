#include "src/train/cuda/context.h"
#include "src/train/cuda/runtime/handles.h"

namespace recpack::train {
namespace {

class CudaReadback final : public Readback {
 public:
  CudaReadback(const CudaContext& context, size_t bytes)
      // Blocks in sleep, which leaves the processor to the loader.
      : context_(context), copied_(cudaEventDisableTiming | cudaEventBlockingSync) {
    // Pinned, since copies to pageable memory would block.
    memory_ = CudaHostMemory(bytes);
  }
  ~CudaReadback() override { cudaEventSynchronize(copied_.get()); }

  void Enqueue(size_t offset, const void* from, size_t bytes) override {
    Check(cudaMemcpyAsync(static_cast<std::byte*>(memory_.get()) + offset, from, bytes,
                          cudaMemcpyDeviceToHost, context_.stream()),
          "cudaMemcpyAsync");
    copied_.Record(context_.stream());
  }
  const void* Wait() override {
    Check(cudaEventSynchronize(copied_.get()), "cudaEventSynchronize");
    return memory_.get();
  }

 private:
  const CudaContext& context_;
  const CudaEvent copied_;
  std::shared_ptr<void> memory_;
};

}  // namespace

std::unique_ptr<Readback> MakeCudaReadback(const CudaContext& context, size_t bytes) {
  return std::make_unique<CudaReadback>(context, bytes);
}

}  // namespace recpack::train
