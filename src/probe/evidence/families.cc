#include "src/probe/evidence/families.h"

#include <string>

#include "src/probe/events/hook_ranges.h"
#include "src/probe/evidence/code_lines.h"

namespace recpack::probe {
namespace {

constexpr size_t kMostProcesses = 100'000;
constexpr int kMostGenerations = 20;

}  // namespace

void Families::Add(const std::vector<TimedEvent>& events) {
  const std::string trains = std::string(kLineSample) + kTrainerRole + '\t';
  for (const TimedEvent& event : events) {
    if (IsParent(event)) {
      // The system may have given the number of a process that ended to this one.
      if (starters_.size() < kMostProcesses || starters_.contains(event.process)) {
        starters_.insert_or_assign(event.process, static_cast<int>(event.event.value));
      }
    } else if (event.name.starts_with(trains) && trainers_.size() < kMostProcesses) {
      trainers_.insert(event.process);
    }
  }
}

int Families::HeadOf(int process) const {
  if (trainers_.contains(process)) return process;
  const auto found = starters_.find(process);
  return found == starters_.end() ? 0 : found->second;
}

int Families::TrainerOf(int process) const {
  for (int i = 0; i < kMostGenerations; ++i) {
    if (trainers_.contains(process)) return process;
    const auto starter = starters_.find(process);
    if (starter == starters_.end()) break;
    process = starter->second;
  }
  return 0;
}

}  // namespace recpack::probe
