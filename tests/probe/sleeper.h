// Child process that sleeps, to be sampled.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace recpack::probe {

// A child of this process with `threads` additional named threads, which sleeps until it is killed.
class Sleeper {
 public:
  explicit Sleeper(int threads = 0) {
    int ready[2] = {};
    if (::pipe(ready) != 0) std::abort();
    process_ = ::fork();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      std::atomic<int> begun = 0;
      for (int i = 0; i < threads; ++i) {
        std::thread([&] {
          ::prctl(PR_SET_NAME, "worker");
          ++begun;
          for (;;) ::pause();
        }).detach();
      }
      while (begun < threads) std::this_thread::yield();
      if (::write(ready[1], "x", 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    ::close(ready[1]);
    char byte = 0;
    if (::read(ready[0], &byte, 1) != 1) std::abort();
    ::close(ready[0]);
    AwaitSleep();
  }
  ~Sleeper() { Kill(); }
  void Kill() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
  }
  int process() const { return process_; }

 private:
  // Waits until all its threads sleep.
  void AwaitSleep() const {
    const std::string tasks = "/proc/" + std::to_string(process_) + "/task";
    for (const auto& task : std::filesystem::directory_iterator(tasks)) {
      for (std::string word; word != "S";) {  // the third word, after TID and name
        std::ifstream(task.path() / "stat") >> word >> word >> word;
      }
    }
  }

  int process_ = 0;
};

}  // namespace recpack::probe
