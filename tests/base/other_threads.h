// What the kernel says of the other threads of this process: what they wait for, no test can see.
#pragma once

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>

namespace recpack {

// Of one thread. A file of /proc that is gone leaves it empty: the thread has ended.
struct ThreadSight {
  char state = '?';    // 'S': it sleeps; 'R': it runs, or would if it were let
  std::string waits;   // how often it went to sleep of itself
  std::string forced;  // how often it was made to stop

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

// By their number.
inline std::map<int, ThreadSight> OtherThreads() {
  std::map<int, ThreadSight> others;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    const int thread = std::stoi(entry.path().filename().string());
    if (thread != ::gettid()) others[thread] = SightOf(thread);
  }
  return others;
}

// Whether all of them slept, and none so much as woke up, for that long.
inline bool OthersSleptFor(std::chrono::milliseconds window) {
  const auto before = OtherThreads();
  for (const auto& [thread, sight] : before) {
    if (sight.state != 'S') return false;
  }
  std::this_thread::sleep_for(window);
  return OtherThreads() == before;
}

// Waits until all of them wait for something: none is still starting or ending, none is at work,
// and so none holds a lock.
inline void AwaitRest() {
  while (!OthersSleptFor(std::chrono::milliseconds(5))) std::this_thread::yield();
}

// Waits until the thread, which is to wait for something, does.
inline void AwaitSleepOf(int thread) {
  while (SightOf(thread).state != 'S') std::this_thread::yield();
}

// Waits until the kernel has taken away all threads but so many: it does so a little after their
// end.
inline void AwaitThreads(size_t all) {
  while (OtherThreads().size() + 1 > all) std::this_thread::yield();
}

}  // namespace recpack
