#include "src/loader/run/stall.h"

#include "src/base/format.h"

namespace recpack {
namespace {

constexpr size_t kMostNamed = 4;

// Describes what a worker does in the stage.
const char* DescribeStage(Stage stage) {
  switch (stage) {
    case Stage::kInput:
    case Stage::kRead:
      return "reads";
    case Stage::kParse:
      return "parses the example of";
    case Stage::kDecode:
      return "decodes the picture of";
    case Stage::kAugment:
      return "crops, resizes or augments the picture of";
    case Stage::kFunction:
      return "is in the user's function with";
    case Stage::kBatch:
      return "works on a whole batch, behind";
    default:
      return "writes into the batch";
  }
}

}  // namespace

void ThrowStall(const std::vector<std::unique_ptr<Worker>>& workers, const LoaderStats& stats,
                std::chrono::milliseconds timeout) {
  std::string doing;
  size_t waiting = 0, named = 0, longest = workers.size();
  for (size_t i = 0; i < workers.size(); ++i) {
    const WorkerStats& worker = stats.workers[i];
    if (worker.now == Stage::kRoom) {
      ++waiting;
      continue;
    }
    if (++named > kMostNamed) continue;
    const auto seconds = std::chrono::duration<double>(worker.now_for).count();
    if (worker.now == Stage::kPlan) {
      doing += format("; worker {} asks ahead for records, for {:.1f} s", i, seconds);
      continue;
    }
    if (longest == workers.size() || worker.now_for > stats.workers[longest].now_for) longest = i;
    const Place place = workers[i]->PlaceNow();
    const std::string record = place.ordinal ? format("record {} of ", *place.ordinal) : "";
    doing += format("; worker {} {} {}{} (stage {}) for {:.1f} s", i, DescribeStage(worker.now),
                    record, place.path, StageName(worker.now), seconds);
  }
  if (named > kMostNamed) doing += format("; {} more are at work", named - kMostNamed);
  if (waiting > 0) doing += format("; {} of {} wait for room", waiting, workers.size());
  throw Error(ErrorKind::kIo, format("no batch for {} ms{}", timeout.count(), doing),
              longest < workers.size() ? workers[longest]->PlaceNow() : Place(),
              "look at the disk or the network that it lies on, or raise `stall_timeout`");
}

}  // namespace recpack
