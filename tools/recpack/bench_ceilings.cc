#include "tools/recpack/bench_ceilings.h"

#include <vector>

#include "recpack/base/error.h"
#include "src/shards/index/pick.h"
#include "src/shards/layout/layout.h"
#include "tools/some_jpegs.h"

namespace recpack::tool {
namespace {

constexpr size_t kFrameBytes = 16;  // of a record besides its payload

std::vector<std::string> ShardsOf(const Dataset& dataset) {
  const Layout layout = OnlySplit(FindLayout(dataset.path()), dataset.split());
  std::vector<std::string> shards;
  for (const std::string shard : layout.splits.front().shards) shards.push_back(shard);
  return shards;
}

// From bytes or pictures a second to samples.
Rate PerSample(Rate rate, double each) {
  rate.per_second /= each;
  return rate;
}

// One behind the other.
Rate Both(const Rate& one, const Rate& other) {
  if (!one.measured()) return one;
  if (!other.measured()) return other;
  return {.per_second = 1 / (1 / one.per_second + 1 / other.per_second)};
}

Rate OfRead(const Dataset& dataset, double payload, const CeilingOptions& options) {
  const std::vector<std::string> shards = ShardsOf(dataset);
  const Rate crc = PerSample(CrcCeiling(static_cast<size_t>(payload), options), payload);
  const Rate inflate = InflateCeiling(shards.front(), options);
  if (inflate.measured()) return Both(PerSample(inflate, payload), crc);
  const Rate read = ReadCeiling(shards, FileAccess::kCached, options);
  return Both(PerSample(read, payload + kFrameBytes), crc);
}

Rate OfInput(const Dataset& dataset, const BenchRun& run, double payload,
             const CeilingOptions& options) {
  if (run.stage(Stage::kInput).count == 0) {
    return {.unavailable = "no read waited: the data is in memory"};
  }
  const Rate disk = ReadCeiling(ShardsOf(dataset), FileAccess::kDirect, options);
  return PerSample(disk, payload + kFrameBytes);
}

Rate OfDecode(const Dataset& dataset, const BenchRun& run, const CeilingOptions& options) {
  if (run.stage(Stage::kDecode).count == 0) return {.unavailable = "no picture was decoded"};
  const std::vector<ByteBuffer> jpegs = SomeJpegs(dataset);
  const std::vector<ByteView> views(jpegs.begin(), jpegs.end());
  const double each = static_cast<double>(run.stage(Stage::kDecode).count) / run.samples;
  return PerSample(JpegCeiling(views, options), each);
}

template <typename Measure>
Rate OrReason(Measure measure) {
  try {
    return measure();
  } catch (const Error& error) {
    return {.unavailable = error.what()};
  }
}

}  // namespace

std::array<Rate, kStages> CeilingsOf(const Dataset& dataset, const BenchRun& run) {
  const CeilingOptions options{.threads = run.threads};
  const StageStats& read = run.stage(Stage::kRead);
  const double payload =
      read.count == 0 ? 0 : static_cast<double>(read.bytes) / static_cast<double>(read.count);
  std::array<Rate, kStages> ceilings;
  ceilings.fill({.unavailable = "no bare call does the same"});
  const auto set = [&](Stage stage, auto measure) {
    ceilings[static_cast<size_t>(stage)] = OrReason(measure);
  };
  set(Stage::kRead, [&] { return OfRead(dataset, payload, options); });
  set(Stage::kInput, [&] { return OfInput(dataset, run, payload, options); });
  set(Stage::kDecode, [&] { return OfDecode(dataset, run, options); });
  set(Stage::kWrite, [&] { return PerSample(StoreCeiling(options), run.sample_bytes); });
  return ceilings;
}

}  // namespace recpack::tool
