// States of this process's other threads as the kernel reports them, to wait until they block.
#pragma once

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>

namespace recpack {

// State of one thread. Empty if its file in /proc does not exist: the thread has ended.
struct ThreadSight {
  char state = '?';    // 'S': sleeping; 'R': running or runnable
  std::string waits;   // voluntary context switches
  std::string forced;  // involuntary context switches

  bool operator==(const ThreadSight&) const = default;
};

inline ThreadSight SightOf(int thread) {
  ThreadSight sight;
  std::ifstream status("/proc/self/task/" + std::to_string(thread) + "/status");
  for (std::string line; std::getline(status, line);) {
    const std::string value = line.substr(line.find('\t') + 1);
    if (line.starts_with("State:")) sight.state = value[0];
    if (line.starts_with("voluntary_ctxt_switches:")) sight.waits = value;
    if (line.starts_with("nonvoluntary_ctxt_switches:")) sight.forced = value;
  }
  return sight;
}

// States by thread id.
inline std::map<int, ThreadSight> OtherThreads() {
  std::map<int, ThreadSight> others;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    const int thread = std::stoi(entry.path().filename().string());
    if (thread != ::gettid()) others[thread] = SightOf(thread);
  }
  return others;
}

// Tells whether all other threads slept for that long without waking up.
inline bool OthersSleptFor(std::chrono::milliseconds window) {
  const auto before = OtherThreads();
  for (const auto& [thread, sight] : before) {
    if (sight.state != 'S') return false;
  }
  std::this_thread::sleep_for(window);
  return OtherThreads() == before;
}

// Waits until all other threads block: none is starting, ending or working, and so none holds a
// lock.
inline void AwaitRest() {
  while (!OthersSleptFor(std::chrono::milliseconds(5))) std::this_thread::yield();
}

// Waits until the thread blocks.
inline void AwaitSleepOf(int thread) {
  while (SightOf(thread).state != 'S') std::this_thread::yield();
}

// Waits until the kernel has removed all but `count` threads, which it does some time after they
// end.
inline void AwaitThreads(size_t all) {
  while (OtherThreads().size() + 1 > all) std::this_thread::yield();
}

}  // namespace recpack
