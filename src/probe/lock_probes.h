// What the hook in Python programs tells of the interpreter lock.
#pragma once

#include <map>
#include <vector>

#include "recpack/probe/event_reader.h"
#include "recpack/probe/evidence.h"

namespace recpack {

// The name of the ranges in which a thread asked for the lock now and then; value: of a million
// times, those at which it had to wait.
inline constexpr char kInterpreterLock[] = "interpreter lock";

// A range of that name tells of the times at which the lock was asked for in it; docs/format/
// events.md has its value.
bool IsLockProbe(const TimedEvent& event);

class LockProbes {
 public:
  void Add(const std::vector<TimedEvent>& events);
  std::vector<LockUse> Uses() const;

 private:
  std::map<int, LockUse> uses_;  // by process; `held` is a sum of seconds here
};

}  // namespace recpack
