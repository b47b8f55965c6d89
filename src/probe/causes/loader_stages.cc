#include <algorithm>
#include <map>

#include "src/base/format.h"
#include "src/probe/causes/rules.h"
#include "src/probe/store/store_place.h"
#include "src/probe/util/units.h"

namespace recpack::probe {
namespace {

// Workers that wait for room more than this, also while the training waits, are not the bottleneck.
constexpr double kMostlyWaiting = 0.5;

Bottleneck StageBottleneck(Stage stage) {
  switch (stage) {
    case Stage::kRoom:
    case Stage::kPlan:
    case Stage::kRead:
      return Bottleneck::kRead;
    case Stage::kInput:
      return Bottleneck::kStorage;
    case Stage::kParse:
      return Bottleneck::kParse;
    case Stage::kDecode:
      return Bottleneck::kDecode;
    case Stage::kAugment:
      return Bottleneck::kAugment;
    case Stage::kFunction:
      return Bottleneck::kFunction;
    case Stage::kBatch:
      return Bottleneck::kBatch;
    case Stage::kWrite:
      return Bottleneck::kWrite;
  }
  return Bottleneck::kUnknown;
}

struct Place {
  double share = 0;  // of the workers' time
  Stage most = Stage::kRoom;
};

// Time of the workers by bottleneck.
std::map<Bottleneck, Place> StagePlaces(const Evidence& evidence, const LoaderWork& work) {
  // Stage plan gives the kernel readahead hints, and blocks while the disk's queue is full.
  const bool plan_waits = DisksGiveMuch(evidence, &work);
  std::map<Bottleneck, Place> places;
  for (size_t i = 0; i < kStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    if (stage == Stage::kRoom) continue;
    Place& place =
        places[stage == Stage::kPlan && plan_waits ? Bottleneck::kStorage : StageBottleneck(stage)];
    if (place.share == 0 || work.Share(stage) > work.Share(place.most)) place.most = stage;
    place.share += work.Share(stage);
  }
  return places;
}

}  // namespace

void LoaderStages(const Situation& situation, Found& found) {
  if (situation.work == nullptr) return;
  const LoaderWork& work = *situation.work;
  const std::string room = Percent(work.Share(Stage::kRoom));
  if (std::min(work.Share(Stage::kRoom), work.room_in_waits) > kMostlyWaiting) {
    found.causes.push_back(
        {.bottleneck = Bottleneck::kPrefetch,
         .saves = situation.pipeline.wait,
         .evidence = {format("the loader's {} workers waited {} of their time for a free slot",
                             work.workers, room)}});
    return;
  }
  for (const auto& [bottleneck, place] : StagePlaces(situation.evidence, work)) {
    if (place.share <= 0) continue;
    Cause cause{
        .bottleneck = bottleneck,
        .saves = situation.pipeline.Saved(place.share),
        .evidence = {format(
            "the loader's {} workers spent {} of their time in stage {}, {} waiting for a free "
            "slot",
            work.workers, Percent(place.share), StageName(place.most), room)}};
    cause.weight = place.share;
    if (bottleneck == Bottleneck::kStorage) {
      const double gain = situation.verdict.gain.value;
      const auto part = place.most == Stage::kInput
                            ? StoreIsSlow(situation.evidence, work, gain, cause)
                            : std::nullopt;
      if (part) {
        cause.saves = situation.pipeline.Saved(place.share * *part);
      } else {
        DescribeStorage(situation.evidence, &work, cause);
      }
    }
    found.causes.push_back(std::move(cause));
  }
}

}  // namespace recpack::probe
