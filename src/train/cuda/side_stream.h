// A second stream of a device, for work that may be done beside what the first one does next.
#pragma once

#include <functional>

#include "src/train/cuda/handles.h"

namespace recpack {

// Used by one thread.
class SideStream {
 public:
  explicit SideStream(cudaStream_t main) : main_(main) {
    Check(cudaStreamCreateWithFlags(&side_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }
  ~SideStream() {
    cudaStreamSynchronize(side_);
    cudaStreamDestroy(side_);
  }
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;

  // Where work is enqueued now: the first stream, or within Do() the second.
  cudaStream_t current() const noexcept { return doing_ ? side_ : main_; }

  // The second stream comes behind what the first one was given up to here.
  void Do(const std::function<void()>& work) {
    given_.Record(main_);
    given_.HoldBack(side_);
    apart_ = true;
    const Doing doing(doing_);
    work();
  }

  // The first one goes on behind what the second one was given.
  void Rejoin() {
    if (!apart_) return;
    apart_ = false;
    done_.Record(side_);
    done_.HoldBack(main_);
  }

 private:
  struct Doing {
    explicit Doing(bool& doing) : flag(doing) { flag = true; }
    ~Doing() { flag = false; }
    bool& flag;
  };

  const cudaStream_t main_;
  cudaStream_t side_ = nullptr;
  const CudaEvent given_, done_;
  bool doing_ = false, apart_ = false;
};

}  // namespace recpack
