#include "src/probe/evidence/traced_settings.h"

#include <string_view>

namespace recpack::probe {
namespace {

constexpr std::string_view kAlone = "_SingleProcessDataLoaderIter";
constexpr std::string_view kWithWorkers = "_MultiProcessingDataLoaderIter";

}  // namespace

void TracedSettings::Add(const std::vector<TimedEvent>& events) {
  for (const TimedEvent& timed : events) {
    if (timed.event.kind != EventKind::kInputWait) continue;
    const std::string_view name = timed.name;
    const bool alone = name.find(kAlone) != name.npos;
    if (!alone && name.find(kWithWorkers) == name.npos) continue;
    found_[timed.process] = {
        .process = timed.process, .library = InputLibrary::kPyTorch, .workers_known = alone};
  }
}

std::vector<InputSettings> TracedSettings::All() const {
  std::vector<InputSettings> settings;
  settings.reserve(found_.size());
  for (const auto& [process, each] : found_) settings.push_back(each);
  return settings;
}

}  // namespace recpack::probe
