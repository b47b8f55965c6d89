// Crew: a loader's threads, which may be stuck in a read of a dead disk.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <vector>

namespace recpack {

class Crew {
 public:
  // Runs `run` in a new thread. `alive` is kept until it returns.
  void Start(std::shared_ptr<void> alive, std::function<void()> run);

  // Joins the threads that end within `patience`, measured in time that the process ran; abandons
  // the others, which keep what they hold. Every thread must have been told to end.
  void End(std::chrono::milliseconds patience);

  // For a forked child, where the threads do not exist.
  void Forget();

 private:
  struct Member {
    std::thread thread;
    std::future<void> ended;
  };
  std::vector<Member> members_;
};

}  // namespace recpack
