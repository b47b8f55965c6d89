#include "tests/train/cuda_emulated/grid.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <vector>

#include "tests/train/cuda_emulated/fibre.h"
#include "tests/train/cuda_emulated/kernel_language.h"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace recpack::emulated {
namespace {

// The running block. A fibre runs threads one after another, until one of them waits.
class Block {
 public:
  void Run(const std::function<void()>& thread, size_t threads, std::mt19937_64& random) {
    thread_ = &thread;
    order_.resize(threads);
    std::iota(order_.begin(), order_.end(), 0u);
    std::shuffle(order_.begin(), order_.end(), random);
    next_ = 0;
    waiting_.clear();
    while (next_ < order_.size()) {
      if (waiting_.size() == fibres_.size()) fibres_.push_back(std::make_unique<Fibre>());
      RunFibre(waiting_.size());
    }
    while (!waiting_.empty()) {
      if (waiting_.size() != threads) Refuse();
      std::vector<Waiting> now;
      now.swap(waiting_);
      std::shuffle(now.begin(), now.end(), random);
      for (const Waiting& one : now) {
        SetThread(one.thread);
        RunFibre(one.fibre);
      }
    }
  }

  void Wait() {
    const size_t fibre = running_;
    waiting_.push_back({current_, fibre});
    fibres_[fibre]->Leave();
  }

 private:
  struct Waiting {
    uint32_t thread;
    size_t fibre;
  };

  void RunFibre(size_t index) {
    running_ = index;
    fibres_[index]->Run(Threads);
  }

  static void Threads();

  void SetThread(uint32_t index) {
    current_ = index;
    threadIdx = {index % blockDim.x, index / blockDim.x % blockDim.y,
                 index / blockDim.x / blockDim.y};
  }

  [[noreturn]] static void Refuse() {
    std::fprintf(stderr, "emulated CUDA: some threads of a block return before a barrier\n");
    std::abort();
  }

  const std::function<void()>* thread_ = nullptr;
  std::vector<uint32_t> order_;
  size_t next_ = 0;
  uint32_t current_ = 0;
  size_t running_ = 0;  // index of the running fibre
  std::vector<Waiting> waiting_;
  std::vector<std::unique_ptr<Fibre>> fibres_;
};

Block& TheBlock() {
  static auto* const block = new Block;
  return *block;
}

void Block::Threads() {
  Block& block = TheBlock();
  // Once others wait, fibres that continue from there take no further threads: all have begun.
  while (block.next_ < block.order_.size()) {
    block.SetThread(block.order_[block.next_++]);
    (*block.thread_)();
  }
}

}  // namespace

void Barrier() { TheBlock().Wait(); }

void RunGrid(dim3 grid, dim3 block, const std::function<void()>& thread, std::mt19937_64& random) {
  gridDim = grid;
  blockDim = block;
  const size_t threads = size_t{block.x} * block.y * block.z;
  const size_t blocks = size_t{grid.x} * grid.y * grid.z;
  for (size_t i = 0; i < blocks; ++i) {
    blockIdx = {static_cast<unsigned>(i % grid.x), static_cast<unsigned>(i / grid.x % grid.y),
                static_cast<unsigned>(i / grid.x / grid.y)};
    TheBlock().Run(thread, threads, random);
  }
}

}  // namespace recpack::emulated
