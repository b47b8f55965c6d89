// Processes of a training, simulated by threads.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "recpack/base/error.h"
#include "tests/train/train_run.h"

namespace recpack::train {

// Collectives of simulated processes: the n-th joins of all processes form one.
class Joins {
 public:
  explicit Joins(int size) : size_(size) {}
  JoinProcesses Of(size_t rank) {
    return [this, rank, calls = size_t{0}]() mutable {
      const std::lock_guard lock(mutex_);
      auto& group = groups_[calls++];
      if (group.empty()) group = ThreadCollectives(size_);
      return std::move(group[rank]);
    };
  }

 private:
  const int size_;
  std::mutex mutex_;
  std::map<size_t, std::vector<std::unique_ptr<Collective>>> groups_;
};

struct Process {
  Ran ran;
  std::string failure;  // empty: none
};

// Runs each with its options, concurrently.
inline std::vector<Process> TrainProcesses(const std::vector<TrainerOptions>& options) {
  Joins joins(static_cast<int>(options.size()));
  std::vector<Process> processes(options.size());
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < options.size(); ++i) {
      threads.emplace_back([&, i] {
        TrainerOptions own = options[i];
        own.join = joins.Of(i);
        try {
          processes[i].ran = Train(own);
        } catch (const Error& error) {
          processes[i].failure = error.what();
        }
      });
    }
  }
  return processes;
}

}  // namespace recpack::train
