#include "tools/recpack/bench_ceilings.h"

#include <vector>

#include "recpack/base/error.h"
#include "src/shards/index/pick.h"
#include "src/shards/layout/layout.h"
#include "tools/some_jpegs.h"

namespace recpack::tool {
namespace {

constexpr size_t kFrameBytes = 16;  // per record, in addition to its payload

std::vector<std::string> ShardPaths(const Dataset& dataset) {
  const Layout layout = OnlySplit(FindLayout(dataset.path()), dataset.split());
  std::vector<std::string> shards;
  for (const std::string shard : layout.splits.front().shards) shards.push_back(shard);
  return shards;
}

// Converts bytes or pictures per second to samples per second.
ceiling::Rate PerSample(ceiling::Rate rate, double each) {
  rate.per_second /= each;
  return rate;
}

// Rate of two steps in sequence.
ceiling::Rate Both(const ceiling::Rate& one, const ceiling::Rate& other) {
  if (!one.measured()) return one;
  if (!other.measured()) return other;
  return {.per_second = 1 / (1 / one.per_second + 1 / other.per_second)};
}

ceiling::Rate OfRead(const Dataset& dataset, double payload,
                     const ceiling::CeilingOptions& options) {
  const std::vector<std::string> shards = ShardPaths(dataset);
  const ceiling::Rate crc =
      PerSample(ceiling::CrcCeiling(static_cast<size_t>(payload), options), payload);
  const ceiling::Rate inflate = ceiling::InflateCeiling(shards.front(), options);
  if (inflate.measured()) return Both(PerSample(inflate, payload), crc);
  const ceiling::Rate read = ceiling::ReadCeiling(shards, ceiling::FileAccess::kCached, options);
  return Both(PerSample(read, payload + kFrameBytes), crc);
}

ceiling::Rate OfInput(const Dataset& dataset, const BenchRun& run, double payload,
                      const ceiling::CeilingOptions& options) {
  if (run.stage(Stage::kInput).count == 0) {
    return {.unavailable = "no read waited: the data is in memory"};
  }
  const ceiling::Rate disk =
      ceiling::ReadCeiling(ShardPaths(dataset), ceiling::FileAccess::kDirect, options);
  return PerSample(disk, payload + kFrameBytes);
}

ceiling::Rate OfDecode(const Dataset& dataset, const BenchRun& run,
                       const ceiling::CeilingOptions& options) {
  if (run.stage(Stage::kDecode).count == 0) return {.unavailable = "no picture was decoded"};
  const std::vector<ByteBuffer> jpegs = SomeJpegs(dataset);
  const std::vector<ByteView> views(jpegs.begin(), jpegs.end());
  const double each = static_cast<double>(run.stage(Stage::kDecode).count) / run.samples;
  return PerSample(ceiling::JpegCeiling(views, options), each);
}

template <typename Measure>
ceiling::Rate OrReason(Measure measure) {
  try {
    return measure();
  } catch (const Error& error) {
    return {.unavailable = error.what()};
  }
}

}  // namespace

std::array<ceiling::Rate, kStages> MeasureCeilings(const Dataset& dataset, const BenchRun& run) {
  const ceiling::CeilingOptions options{.threads = run.threads};
  const StageStats& read = run.stage(Stage::kRead);
  const double payload =
      read.count == 0 ? 0 : static_cast<double>(read.bytes) / static_cast<double>(read.count);
  std::array<ceiling::Rate, kStages> ceilings;
  ceilings.fill({.unavailable = "no plain call does the same"});
  const auto set = [&](Stage stage, auto measure) {
    ceilings[static_cast<size_t>(stage)] = OrReason(measure);
  };
  set(Stage::kRead, [&] { return OfRead(dataset, payload, options); });
  set(Stage::kInput, [&] { return OfInput(dataset, run, payload, options); });
  set(Stage::kDecode, [&] { return OfDecode(dataset, run, options); });
  set(Stage::kWrite, [&] { return PerSample(ceiling::StoreCeiling(options), run.sample_bytes); });
  return ceilings;
}

}  // namespace recpack::tool
