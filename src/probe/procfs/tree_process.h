// A process that is watched, and its threads.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "src/probe/procfs/process_stat.h"
#include "src/probe/procfs/system_sample.h"
#include "src/probe/util/kept_file.h"
#include "src/probe/util/unseen_list.h"

namespace recpack::probe {

// What a process, or several, have used up.
struct Spent {
  uint64_t cpu_ns = 0;
  uint64_t major_faults = 0;

  Spent& operator+=(const Spent& other) noexcept {
    cpu_ns += other.cpu_ns;
    major_faults += other.major_faults;
    return *this;
  }
};

// a - b, and 0 where b is more.
Spent Beyond(const Spent& a, const Spent& b) noexcept;

class TreeThread {
 public:
  TreeThread(KeptFiles* files, const std::string& process_folder, int process, int thread);

  // False: it has ended. What its stat says changes by running, but for a state of "sleeps" that
  // became "could run": so that is read where it has run, or else each 32nd time. `turn`: counts
  // up, from another number for each thread.
  bool Read(size_t turn, bool block_io_is_counted, UnseenList& missing);
  // On which processors it may run: true where that has changed.
  bool ReadAllowed();

  const ThreadSample& sample() const noexcept { return sample_; }
  const std::string& allowed() const noexcept { return allowed_; }  // "0-3,8"

 private:
  enum class Schedule { kUnknown, kSame, kRan };
  Schedule ReadSchedule();
  void TakeSchedule(UnseenList& missing);

  KeptFiles* files_;
  std::string folder_;
  KeptFile stat_;
  KeptFile schedule_;
  std::array<Counter, 3> times_ = {};  // of the last schedstat: run, wait, slices
  size_t idle_ = 0;                    // looks since it has run
  bool is_known_ = false;              // its stat was read
  bool has_run_ = false;               // since then
  size_t read_at_ = 0;                 // the turn of that
  ThreadSample sample_;
  std::string allowed_;
};

class TreeProcess {
 public:
  // `files` must outlive it.
  TreeProcess(KeptFiles* files, const std::string& proc, int process);

  // False: it has ended, or another one has its number now.
  bool Read(bool block_io_is_counted, UnseenList& missing);

  int process() const noexcept { return sample_.process; }
  const ProcessSample& sample() const noexcept { return sample_; }
  std::vector<TreeThread>& threads() noexcept { return threads_; }
  // By itself, and by its children that have ended and were waited for.
  const Spent& own() const noexcept { return own_; }
  const Spent& children() const noexcept { return children_; }
  // By how much that grew with the last Read().
  const Spent& own_growth() const noexcept { return own_growth_; }
  const Spent& children_growth() const noexcept { return children_growth_; }

 private:
  void Take(const ProcessStat& stat);
  void ReadIo(UnseenList& missing);
  void ReadThreads(bool block_io_is_counted, UnseenList& missing);
  void ListThreads(bool block_io_is_counted, UnseenList& missing);

  KeptFiles* files_;
  std::string folder_;
  KeptFile stat_;
  KeptFile io_;
  ProcessSample sample_;
  Spent own_;
  Spent children_;
  Spent own_growth_;
  Spent children_growth_;
  std::vector<TreeThread> threads_;  // by number
  std::vector<int> listed_;
  size_t samples_ = 0;
};

}  // namespace recpack::probe
