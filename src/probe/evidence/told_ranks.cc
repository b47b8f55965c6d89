#include "src/probe/evidence/told_ranks.h"

#include "src/probe/events/hook_ranges.h"

namespace recpack::probe {

void ToldRanks::Add(const std::vector<TimedEvent>& events) {
  for (const TimedEvent& timed : events) {
    if (!IsRank(timed)) continue;
    const uint64_t value = timed.event.value;
    ranks_[timed.process] = {.process = timed.process,
                             .rank = static_cast<uint32_t>(value),
                             .size = static_cast<uint32_t>(value >> kRankSizeBits)};
  }
}

std::vector<ProcessRank> ToldRanks::All() const {
  std::vector<ProcessRank> all;
  all.reserve(ranks_.size());
  for (const auto& [process, rank] : ranks_) all.push_back(rank);
  return all;
}

}  // namespace recpack::probe
