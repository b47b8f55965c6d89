#include "src/probe/evidence/unhooked_pythons.h"

#include <filesystem>
#include <utility>

#include "src/base/format.h"
#include "src/probe/hook/python_hook.h"

namespace recpack::probe {
namespace {

constexpr int64_t kTimeToStart = 1'000'000'000;  // ns

}  // namespace

UnhookedPythons::UnhookedPythons(std::string folder)
    : folder_(std::move(folder)),
      has_hook_(!folder_.empty() && std::filesystem::exists(folder_ + "/python")) {}

void UnhookedPythons::Look(const std::vector<ProcessSample>& processes, int64_t now) {
  if (!has_hook_ || !first_.empty()) return;
  for (const ProcessSample& process : processes) {
    int64_t& since = seen_.try_emplace(std::pair(process.process, process.name), now).first->second;
    if (since == INT64_MAX || now - since < kTimeToStart) continue;
    since = INT64_MAX;
    const std::string why = WhyPythonIsNotHooked(process.process, folder_);
    if (why.empty()) continue;
    first_ = format("process {} ({}) has no hook: {}", process.process, process.name, why);
    return;
  }
}

}  // namespace recpack::probe
