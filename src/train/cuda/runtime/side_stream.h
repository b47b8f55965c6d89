// Second stream of a device, for work beside the main stream.
#pragma once

#include <functional>

#include "src/train/cuda/runtime/handles.h"

namespace recpack::train {

// Not thread-safe. Both streams must outlive this object.
class SideStream {
 public:
  SideStream(cudaStream_t first, cudaStream_t second) : first_(first), second_(second) {}
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;

  cudaStream_t first() const noexcept { return first_; }
  // Returns true within Do(): work is for the second stream.
  bool doing() const noexcept { return doing_; }

  // Runs `work` for the second stream, which first waits for the main stream's work so far.
  void Do(const std::function<void()>& work) {
    Follow();
    const Doing doing(doing_);
    work();
  }

  // Makes the main stream wait for the second stream's work.
  void Rejoin() {
    if (!apart_) return;
    apart_ = false;
    done_.Record(second_);
    done_.HoldBack(first_);
  }

  // A stream that is ordered after all work on both.
  cudaStream_t Last() {
    if (!apart_) return first_;
    Follow();
    return second_;
  }

 private:
  struct Doing {
    explicit Doing(bool& doing) : flag(doing), before(doing) { flag = true; }
    ~Doing() { flag = before; }
    bool& flag;
    const bool before;
  };

  void Follow() {
    given_.Record(first_);
    given_.HoldBack(second_);
    apart_ = true;
  }

  const cudaStream_t first_, second_;
  const CudaEvent given_, done_;
  bool doing_ = false, apart_ = false;
};

}  // namespace recpack::train
