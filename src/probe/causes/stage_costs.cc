#include "src/probe/causes/stage_costs.h"

#include <algorithm>

namespace recpack::probe {
namespace {

constexpr double kFrameBytes = 16;          // of a record besides its payload
constexpr double kFasterThanStorage = 1.5;  // times its ceiling: what came so fast was in memory

const StageStats& At(const LoaderWork& work, Stage stage) {
  return work.stages[static_cast<size_t>(stage)];
}

double BytesOf(const LoaderWork& work, Stage stage) {
  return static_cast<double>(At(work, stage).bytes) / work.samples;
}

// Of bytes or pieces a second, so many for each sample.
Reading<double> PerSample(const Ceilings& ceilings, const char* name, double each, int threads) {
  const double rate = ceilings.RateOf(name, threads);
  if (rate <= 0) return Unavailable{std::string(name) + " was not measured"};
  if (each <= 0) return Unavailable{"its bytes are not counted"};
  return rate / each;
}

Reading<double> OfRead(const LoaderWork& work, const Ceilings& ceilings, int threads) {
  const double bytes = BytesOf(work, Stage::kRead);
  const auto read = PerSample(ceilings, kReadCached, bytes + kFrameBytes, threads);
  const auto crc = PerSample(ceilings, kCrc, bytes, threads);
  if (!read || !crc) return read ? crc : read;
  return 1 / (1 / *read + 1 / *crc);
}

Reading<double> OfDecode(const LoaderWork& work, const Ceilings& ceilings, int threads) {
  const MeanPicture picture = PictureOf(work);
  if (picture.pixels <= 0) return Unavailable{"no JPEG was decoded"};
  const double seconds = picture.count * ceilings.decode.Seconds(picture.coded, picture.made);
  const double one = ceilings.RateOf(kJpeg, 1), all = ceilings.RateOf(kJpeg, threads);
  if (one <= 0 || all <= 0 || seconds <= 0) return Unavailable{"JPEG decode was not measured"};
  return all / one / seconds;
}

}  // namespace

double CostOf(const LoaderWork& work, Stage stage) {
  return std::chrono::duration<double>(At(work, stage).time).count() / work.samples;
}

double StoredBytes(const LoaderWork& work) { return BytesOf(work, Stage::kRead) + kFrameBytes; }

MeanPicture PictureOf(const LoaderWork& work) {
  const auto count = static_cast<double>(At(work, Stage::kDecode).count);
  if (count <= 0 || work.pictures.pixels == 0) return {};
  return {.count = count / work.samples,
          .bytes = static_cast<double>(At(work, Stage::kDecode).bytes) / count,
          .coded = static_cast<double>(work.pictures.coded_bytes) / count,
          .pixels = static_cast<double>(work.pictures.pixels) / count,
          .made = static_cast<double>(work.pictures.made) / count};
}

LoaderCost CostOf(const LoaderWork& work, const SystemRates* system, int cores) {
  LoaderCost cost{.threads = std::max(1, static_cast<int>(work.workers)),
                  .per_second = work.samples_per_second,
                  .bytes = BytesOf(work, Stage::kRead) + BytesOf(work, Stage::kWrite),
                  .input = CostOf(work, Stage::kInput)};
  for (size_t i = 0; i < kStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    if (IsWork(stage)) cost.work += CostOf(work, stage);
  }
  cost.consumer = std::max(0.0, work.seconds - work.consumer_wait) / work.samples;
  cost.consumer_cpu = cost.consumer;
  if (system != nullptr && system->seconds > 0) {
    const double turns = std::max(1.0, static_cast<double>(cost.threads) / cores);
    cost.consumer_cpu =
        std::max(0.0, system->tree_cores / work.samples_per_second - cost.work / turns);
  }
  return cost;
}

bool InputIsFromMemory(const LoaderWork& work, const Ceilings& ceilings) {
  const auto threads = static_cast<int>(work.workers);
  const auto storage = PerSample(ceilings, kReadCold, StoredBytes(work), threads);
  return storage && threads / CostOf(work, Stage::kInput) > kFasterThanStorage * *storage;
}

Reading<double> CeilingOf(const LoaderWork& work, Stage stage, const Ceilings& ceilings,
                          int threads) {
  switch (stage) {
    case Stage::kInput:
      return PerSample(ceilings, InputIsFromMemory(work, ceilings) ? kReadCached : kReadCold,
                       StoredBytes(work), threads);
    case Stage::kRead:
      return OfRead(work, ceilings, threads);
    case Stage::kDecode:
      return OfDecode(work, ceilings, threads);
    case Stage::kWrite:
      return PerSample(ceilings, kMemset, BytesOf(work, Stage::kWrite), threads);
    default:
      return Unavailable{"no bare call does the same"};
  }
}

}  // namespace recpack::probe
