// When programs told of something last.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "src/probe/events/event_reader.h"
#include "src/probe/evidence/evidence.h"

namespace recpack::probe {

class LastWord {
 public:
  void Add(const std::vector<TimedEvent>& events);
  // They run.
  void Saw(const std::vector<ProcessSample>& processes, int64_t now);

  // Of the processes of these trainers, from what the last of them told to when the last of them
  // was seen. Nothing where they ended before.
  std::optional<Silence> Since(const std::vector<TrainerSteps>& trainers) const;

 private:
  std::map<int, int64_t> told_, seen_;                  // by process
  std::map<std::pair<int, uint32_t>, int64_t> inputs_;  // that have not ended, by process and lane
};

}  // namespace recpack::probe
