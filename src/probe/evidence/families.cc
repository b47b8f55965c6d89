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
    if (IsParent(event) && starters_.size() < kMostProcesses) {
      starters_[event.process] = static_cast<int>(event.event.value);
    } else if (event.name.starts_with(trains)) {
      trainers_.insert(event.process);
    }
  }
}

int Families::StarterOf(int process) const {
  const auto found = starters_.find(process);
  return found == starters_.end() ? process : found->second;
}

int Families::TrainerOf(int process) const {
  for (int i = 0; i < kMostGenerations; ++i) {
    if (trainers_.contains(process)) return process;
    const int starter = StarterOf(process);
    if (starter == process) break;
    process = starter;
  }
  return 0;
}

}  // namespace recpack::probe
