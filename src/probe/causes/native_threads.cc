#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "src/base/format.h"
#include "src/probe/causes/program_cures.h"
#include "src/probe/causes/rules.h"
#include "src/probe/share/slow_rank.h"

namespace recpack::probe {
namespace {

constexpr double kHardly = 0.1;     // processors
constexpr double kBusyCores = 0.9;  // of the usable cores
constexpr size_t kMostNames = 3;
constexpr double kWorthALine = 0.05;  // processors

struct Group {
  std::string name;
  double cores = 0;
  size_t threads = 0;
};

bool Trains(const ThreadRates& thread, const std::vector<TrainerSteps>& trainers) {
  return std::any_of(trainers.begin(), trainers.end(), [&](const TrainerSteps& trainer) {
    return thread.process == trainer.process &&
           static_cast<uint32_t>(thread.thread) == trainer.lane;
  });
}

// Threads other than the training threads, grouped by name, the busiest group first.
std::vector<Group> OthersByName(const SystemRates& system,
                                const std::vector<TrainerSteps>& trainers) {
  std::map<std::string, Group> by_name;
  for (const ThreadRates& thread : system.threads) {
    if (Trains(thread, trainers)) continue;
    Group& group = by_name[thread.name];
    group.name = thread.name;
    group.cores += thread.cpu_share;
    ++group.threads;
  }
  std::vector<Group> groups;
  groups.reserve(by_name.size());
  for (auto& [name, group] : by_name) groups.push_back(std::move(group));
  std::ranges::stable_sort(groups, std::greater(), &Group::cores);
  return groups;
}

std::string Named(const std::vector<Group>& groups) {
  std::string text;
  for (size_t i = 0; i < std::min(kMostNames, groups.size()); ++i) {
    if (groups[i].cores < kWorthALine) break;
    text += format("{}{} {:.1f} ({} thread{})", text.empty() ? ": " : ", ", groups[i].name,
                   groups[i].cores, groups[i].threads, groups[i].threads == 1 ? "" : "s");
  }
  return text;
}

// Where only one map() of tf.data is called, its function is the first place to look. It may do
// little beside reading and decompressing: the cause stays unknown.
void PointAtMap(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                Verdict& verdict) {
  const bool waits = verdict.band == Band::kModerately || verdict.band == Band::kHighly;
  const InputSettings* const settings = SettingsOfLongest(evidence, trainers);
  if (!waits || settings == nullptr || settings->maps != 1 || settings->place.empty()) return;
  verdict.action = Action{.bottleneck = verdict.bottleneck,
                          .text =
                              "look at the function of Dataset.map first, the only one of the "
                              "pipeline: do less in it, prepare the data once, or add "
                              ".cache(); TensorFlow's profiler shows its operations",
                          .saves = {},
                          .where = PlaceOfSettings(*settings)};
}

const char* ParallelInput(const Evidence& evidence, const std::vector<TrainerSteps>& trainers) {
  const InputSettings* const settings = SettingsOfLongest(evidence, trainers);
  if (settings != nullptr && settings->loads()) {
    return "let the DataLoader make batches at the same time and ahead of their use (num_workers, "
           "prefetch_factor, persistent_workers=True)";
  }
  return "make the input parallel (tf.data: num_parallel_calls=tf.data.AUTOTUNE, interleave, "
         "prefetch; Grain: worker_count); TensorFlow's profiler shows the stage";
}

}  // namespace

void DescribeNativeThreads(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                           Verdict& verdict) {
  if (!evidence.system) return;
  const SystemRates& system = *evidence.system;
  const std::vector<Group> groups = OthersByName(system, trainers);
  double cores = 0;
  for (const Group& group : groups) cores += group.cores;
  verdict.evidence.push_back(
      "the program has no recpack loader, and Python stacks do not show what the input does");
  if (cores < kHardly) {
    verdict.evidence.push_back(
        format("apart from the training threads the program hardly ran: {:.2f} processors; its "
               "input waits "
               "for something",
               cores));
    verdict.cure =
        "check what its threads wait for (py-spy dump --native, strace -f): the network, another "
        "process, a lock";
    return;
  }
  verdict.evidence.push_back(
      format("apart from the training threads the program ran {:.1f} of {} processors{}", cores,
             system.allowed_cores, Named(groups)));
  const bool full = system.tree_cores > kBusyCores * system.allowed_cores;
  verdict.cure =
      full ? "the program keeps all its processors busy: use more of them, less work a sample "
             "(smaller pictures, cache()), or recpack's loader"
           : ParallelInput(evidence, trainers);
  PointAtMap(evidence, trainers, verdict);
}

}  // namespace recpack::probe
