// Which processes train together, as the hook in Python programs tells of torch.distributed.
#pragma once

#include <map>
#include <vector>

#include "src/probe/events/event_reader.h"
#include "src/probe/evidence/evidence.h"

namespace recpack::probe {

class ToldRanks {
 public:
  void Add(const std::vector<TimedEvent>& events);
  std::vector<ProcessRank> All() const;  // by process

 private:
  std::map<int, ProcessRank> ranks_;
};

}  // namespace recpack::probe
