// Samples one process of the tree and its threads.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "src/probe/procfs/process_stat.h"
#include "src/probe/procfs/system_sample.h"
#include "src/probe/util/kept_file.h"
#include "src/probe/util/unseen.h"

namespace recpack::probe {

// Resources used by one or several processes.
struct Spent {
  uint64_t cpu_ns = 0;
  uint64_t major_faults = 0;

  Spent& operator+=(const Spent& other) noexcept {
    cpu_ns += other.cpu_ns;
    major_faults += other.major_faults;
    return *this;
  }
};

// Returns a - b, with 0 where b is larger.
Spent Beyond(const Spent& a, const Spent& b) noexcept;

class TreeThread {
 public:
  TreeThread(KeptFiles* files, const std::string& process_folder, int process, int thread);

  // Returns false if the thread has ended. Its stat file changes only if the thread runs, except
  // that a sleeping thread may become runnable: so it is read after the thread has run, else at
  // every 32nd call. `turn`: counts calls, with a different start for each thread.
  bool Read(size_t turn, bool block_io_is_counted, UnseenList& missing);
  // Reads the allowed processors. Returns true if they have changed.
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
  std::array<Counter, 3> times_ = {};  // last schedstat: run, wait, slices
  size_t idle_ = 0;                    // reads since it has last run
  bool is_known_ = false;              // stat was read
  bool has_run_ = false;               // since stat was read
  size_t read_at_ = 0;                 // turn at which stat was read
  ThreadSample sample_;
  std::string allowed_;
};

class TreeProcess {
 public:
  // `files` must outlive this object.
  TreeProcess(KeptFiles* files, const std::string& proc, int process);

  // Returns false if the process has ended or its PID was reused.
  bool Read(bool block_io_is_counted, UnseenList& missing);

  int process() const noexcept { return sample_.process; }
  const ProcessSample& sample() const noexcept { return sample_; }
  std::vector<TreeThread>& threads() noexcept { return threads_; }
  // Usage of the process itself, and of its children that have ended and were waited for.
  const Spent& own() const noexcept { return own_; }
  const Spent& children() const noexcept { return children_; }
  // Growth of these at the last Read().
  const Spent& own_growth() const noexcept { return own_growth_; }
  const Spent& children_growth() const noexcept { return children_growth_; }

 private:
  void Take(const ProcessStat& stat);
  void ReadIo(UnseenList& missing);
  void ReadMemory();
  void ReadThreads(bool block_io_is_counted, UnseenList& missing);
  void ListThreads(bool block_io_is_counted, UnseenList& missing);

  KeptFiles* files_;
  std::string folder_;
  KeptFile stat_;
  KeptFile io_;
  KeptFile memory_;
  ProcessSample sample_;
  Spent own_;
  Spent children_;
  Spent own_growth_;
  Spent children_growth_;
  std::vector<TreeThread> threads_;  // sorted by TID
  std::vector<int> listed_;
  size_t samples_ = 0;
};

}  // namespace recpack::probe
