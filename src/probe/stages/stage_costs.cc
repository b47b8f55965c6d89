#include "src/probe/stages/stage_costs.h"

#include <algorithm>

namespace recpack::probe {
namespace {

constexpr double kFrameBytes = 16;          // of a record, without its payload
constexpr double kFasterThanStorage = 1.5;  // times the storage ceiling: the data was in memory

const StageStats& At(const LoaderWork& work, Stage stage) {
  return work.stages[static_cast<size_t>(stage)];
}

double BytesPerSample(const LoaderWork& work, Stage stage) {
  return static_cast<double>(At(work, stage).bytes) / work.samples;
}

// Samples per second at the ceiling `name`, if each sample takes `each` bytes or pieces.
Reading<double> PerSample(const Ceilings& ceilings, const char* name, double each, int threads) {
  const double rate = ceilings.Rate(name, threads);
  if (rate <= 0) return Unavailable{std::string(name) + " was not measured"};
  if (each <= 0) return Unavailable{"its bytes are not counted"};
  return rate / each;
}

Reading<double> ReadCeiling(const LoaderWork& work, const Ceilings& ceilings, int threads) {
  const double bytes = BytesPerSample(work, Stage::kRead);
  const auto read = PerSample(ceilings, kReadCached, bytes + kFrameBytes, threads);
  const auto crc = PerSample(ceilings, kCrc, bytes, threads);
  if (!read || !crc) return read ? crc : read;
  return 1 / (1 / *read + 1 / *crc);
}

Reading<double> DecodeCeiling(const LoaderWork& work, const Ceilings& ceilings, int threads) {
  const MeanPicture picture = AveragePicture(work);
  if (picture.pixels <= 0) return Unavailable{"no JPEG was decoded"};
  const double seconds = picture.count * ceilings.decode.Seconds(picture.coded, picture.made);
  const double one = ceilings.Rate(kJpeg, 1), all = ceilings.Rate(kJpeg, threads);
  if (one <= 0 || all <= 0 || seconds <= 0) return Unavailable{"JPEG decode was not measured"};
  return all / one / seconds;
}

}  // namespace

double StageCost(const LoaderWork& work, Stage stage) {
  return std::chrono::duration<double>(At(work, stage).time).count() / work.samples;
}

double StoredBytes(const LoaderWork& work) {
  return BytesPerSample(work, Stage::kRead) + kFrameBytes;
}

MeanPicture AveragePicture(const LoaderWork& work) {
  const auto count = static_cast<double>(At(work, Stage::kDecode).count);
  if (count <= 0 || work.pictures.pixels == 0) return {};
  return {.count = count / work.samples,
          .bytes = static_cast<double>(At(work, Stage::kDecode).bytes) / count,
          .coded = static_cast<double>(work.pictures.coded_bytes) / count,
          .pixels = static_cast<double>(work.pictures.pixels) / count,
          .made = static_cast<double>(work.pictures.made) / count};
}

ceiling::LoaderCost MakeLoaderCost(const LoaderWork& work, const SystemRates* system, int cores) {
  ceiling::LoaderCost cost{
      .threads = std::max(1, static_cast<int>(work.workers)),
      .per_second = work.samples_per_second,
      .bytes = BytesPerSample(work, Stage::kRead) + BytesPerSample(work, Stage::kWrite),
      .input = StageCost(work, Stage::kInput)};
  for (size_t i = 0; i < kStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    if (IsWork(stage)) cost.work += StageCost(work, stage);
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
  return storage && threads / StageCost(work, Stage::kInput) > kFasterThanStorage * *storage;
}

Reading<double> StageCeiling(const LoaderWork& work, Stage stage, const Ceilings& ceilings,
                             int threads) {
  switch (stage) {
    case Stage::kInput:
      return PerSample(ceilings, InputIsFromMemory(work, ceilings) ? kReadCached : kReadCold,
                       StoredBytes(work), threads);
    case Stage::kRead:
      return ReadCeiling(work, ceilings, threads);
    case Stage::kDecode:
      return DecodeCeiling(work, ceilings, threads);
    case Stage::kWrite:
      return PerSample(ceilings, kMemset, BytesPerSample(work, Stage::kWrite), threads);
    default:
      return Unavailable{"no bare call does the same"};
  }
}

}  // namespace recpack::probe
