// Ranks that are threads of the test.
#pragma once

#include <barrier>
#include <memory>
#include <thread>
#include <vector>

#include "tests/train/collectives/collective_contract.h"

namespace recpack::train {

// Calls `body` for each rank, on a thread of its own.
template <typename Body>
void RunThreads(int ranks, const Body& body) {
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&body, rank] {
      try {
        body(rank);
      } catch (const std::exception& error) {
        ADD_FAILURE() << "rank " << rank << ": " << error.what();
      }
    });
  }
}

// Makes collectives by `make(rank)` on the threads that use them.
class ThreadedWorld : public World {
 public:
  explicit ThreadedWorld(int size) : size_(size), barrier_(size) {}
  int size() const override { return size_; }
  void Sync() override { barrier_.arrive_and_wait(); }

 protected:
  template <typename Make>
  void RunWith(const Make& make, const Body& body) {
    RunThreads(size_, [&](int rank) {
      auto collective = make(rank);
      Sync();
      body(std::move(collective));
    });
  }

 private:
  int size_;
  std::barrier<> barrier_;
};

}  // namespace recpack::train
