#include "recpack/probe/told_ranks.h"

namespace recpack {
namespace {

constexpr char kRank[] = "rank";
constexpr int kSizeBits = 32;

}  // namespace

bool IsRank(const TimedEvent& event) {
  return event.event.kind == EventKind::kRange && event.name == kRank &&
         event.event.begin == event.event.end && event.event.value >> kSizeBits > 1;
}

void ToldRanks::Add(const std::vector<TimedEvent>& events) {
  for (const TimedEvent& timed : events) {
    if (!IsRank(timed)) continue;
    const uint64_t value = timed.event.value;
    ranks_[timed.process] = {.process = timed.process,
                             .rank = static_cast<uint32_t>(value),
                             .size = static_cast<uint32_t>(value >> kSizeBits)};
  }
}

std::vector<ProcessRank> ToldRanks::All() const {
  std::vector<ProcessRank> all;
  all.reserve(ranks_.size());
  for (const auto& [process, rank] : ranks_) all.push_back(rank);
  return all;
}

}  // namespace recpack
