// Collectors of the samples that the hook in Python programs writes: input threads, interpreter
// lock, ranks, settings. Not thread-safe.
#pragma once

#include <map>
#include <vector>

#include "src/probe/events/event_reader.h"
#include "src/probe/evidence/evidence.h"

namespace recpack::probe {

// Sums up what the threads that make the input were doing.
class InputSamples {
 public:
  void Add(const std::vector<TimedEvent>& events);
  std::vector<InputWork> Works() const;  // by process

 private:
  // `work.threads` and `work.waiting` are sums of seconds here. The samples of one interval, one
  // per kind of work, have the same times: their interval counts once.
  struct Sums {
    InputWork work;
    int64_t until = INT64_MIN;
  };
  std::map<int, Sums> sums_;  // by process
};

// Sums up how often other threads held the interpreter lock.
class LockProbes {
 public:
  void Add(const std::vector<TimedEvent>& events);
  std::vector<LockUse> Uses() const;  // by process

 private:
  std::map<int, LockUse> uses_;  // by process; `held` is a sum of seconds here
};

// Collects the ranks of processes that use torch.distributed.
class ReportedRanks {
 public:
  void Add(const std::vector<TimedEvent>& events);
  std::vector<ProcessRank> All() const;  // by process

 private:
  std::map<int, ProcessRank> ranks_;  // by process
};

// Sums up the exchanges of gradients.
class GradientExchanges {
 public:
  void Add(const std::vector<TimedEvent>& events);
  std::vector<GradientExchange> Means() const;  // by process

 private:
  std::map<int, GradientExchange> sums_;  // by process; times are sums here
};

// Collects the settings of the programs' inputs.
class ReportedSettings {
 public:
  void Add(const std::vector<TimedEvent>& events);
  std::vector<InputSettings> All() const;  // by process

 private:
  std::map<int, InputSettings> settings_;  // by process
};

}  // namespace recpack::probe
