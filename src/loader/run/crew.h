// A loader's threads, which may be stuck where nobody can wake them: in a read of a dead disk.
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
  // Runs `run` on a thread of its own. `alive` is held until it returns.
  void Start(std::shared_ptr<void> alive, std::function<void()> run);

  // Joins the threads that end within `patience`, in which the process ran; the others are left to
  // themselves, with what was held for them. Each thread was told to end before.
  void End(std::chrono::milliseconds patience);

  // Where the threads are not there: in a forked child.
  void Forget();

 private:
  struct Member {
    std::thread thread;
    std::future<void> ended;
  };
  std::vector<Member> members_;
};

}  // namespace recpack
