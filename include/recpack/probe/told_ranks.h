// Which processes train together, as the hook in Python programs tells of torch.distributed.
#pragma once

#include <map>
#include <vector>

#include "recpack/probe/event_reader.h"
#include "recpack/probe/evidence.h"

namespace recpack {

// Tells a process's rank; docs/format/events.md has its value.
bool IsRank(const TimedEvent& event);

class ToldRanks {
 public:
  void Add(const std::vector<TimedEvent>& events);
  std::vector<ProcessRank> All() const;  // by process

 private:
  std::map<int, ProcessRank> ranks_;
};

}  // namespace recpack
