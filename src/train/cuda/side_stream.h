// A second stream of a device, for work that may be done beside what the first one does next.
#pragma once

#include <functional>

#include "src/train/cuda/handles.h"

namespace recpack::train {

// Used by one thread. Both streams outlive it.
class SideStream {
 public:
  SideStream(cudaStream_t first, cudaStream_t second) : first_(first), second_(second) {}
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;

  cudaStream_t first() const noexcept { return first_; }
  // Whether work is for the second stream now: within Do().
  bool doing() const noexcept { return doing_; }

  // The second stream comes behind what the first one was given up to here.
  void Do(const std::function<void()>& work) {
    Follow();
    const Doing doing(doing_);
    work();
  }

  // The first one goes on behind what the second one was given.
  void Rejoin() {
    if (!apart_) return;
    apart_ = false;
    done_.Record(second_);
    done_.HoldBack(first_);
  }

  // The stream that is behind all that both were given.
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
