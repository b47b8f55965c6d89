#include "recpack/dataset/estimate.h"

#include <algorithm>
#include <chrono>

#include "recpack/base/error.h"
#include "recpack/base/parallel.h"

namespace recpack {
namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Bytes of the record, or 0 where the item is bad.
uint64_t Encode(ItemReader& reader, size_t split, uint64_t item, Sample& sample,
                ByteBuffer& buffer) {
  sample.features.Clear();
  sample.payload = {};
  try {
    reader.Read(split, item, sample);
  } catch (const Error&) {
    return 0;
  }
  if (!sample.payload.empty()) return sample.payload.size();
  buffer.resize(sample.features.ByteSize());
  sample.features.SerializeTo(buffer.data());
  return buffer.size();
}

}  // namespace

PackEstimate EstimatePack(const Source& source, const Plan& plan, const PackOptions& options,
                          double trial_seconds) {
  constexpr uint64_t kSteps = 1000;  // places in each split that are tried in turn
  const auto reader = source.NewReader();
  Sample sample;
  ByteBuffer buffer;
  PackEstimate estimate;
  uint64_t planned = 0, encoded = 0;
  const double begin = Now();
  for (uint64_t step = 0; step < kSteps && Now() - begin < trial_seconds; ++step) {
    for (size_t split = 0; split < plan.splits.size(); ++split) {
      const uint64_t items = plan.splits[split].items;
      if (step >= items) continue;
      const uint64_t item =
          PackingOrder(plan, split)(items <= kSteps ? step : items / kSteps * step);
      planned += source.ItemBytes(split, item);
      encoded += Encode(*reader, split, item, sample, buffer);
      ++estimate.tried;
    }
  }
  const double spent = Now() - begin;
  const double share =
      static_cast<double>(planned) / static_cast<double>(std::max<uint64_t>(1, plan.bytes()));
  const auto threads = static_cast<double>(
      std::max<size_t>(1, ParallelThreads(plan.shards.size(), options.threads)));
  if (share > 0) estimate.seconds = spent / share / threads;
  if (planned > 0)
    estimate.bytes_ratio = static_cast<double>(encoded) / static_cast<double>(planned);
  return estimate;
}

}  // namespace recpack
