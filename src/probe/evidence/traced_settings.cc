#include "src/probe/evidence/traced_settings.h"

#include <map>
#include <string_view>

namespace recpack::probe {
namespace {

constexpr std::string_view kAlone = "_SingleProcessDataLoaderIter";
constexpr std::string_view kWithWorkers = "_MultiProcessingDataLoaderIter";

}  // namespace

std::vector<InputSettings> FindTracedSettings(const std::vector<TimedEvent>& events) {
  std::map<int, InputSettings> found;  // by process
  for (const TimedEvent& timed : events) {
    if (timed.event.kind != EventKind::kInputWait) continue;
    const std::string_view name = timed.name;
    const bool alone = name.find(kAlone) != name.npos;
    if (!alone && name.find(kWithWorkers) == name.npos) continue;
    found[timed.process] = {
        .process = timed.process, .library = InputLibrary::kPyTorch, .workers_known = alone};
  }
  std::vector<InputSettings> settings;
  settings.reserve(found.size());
  for (const auto& [process, each] : found) settings.push_back(each);
  return settings;
}

}  // namespace recpack::probe
