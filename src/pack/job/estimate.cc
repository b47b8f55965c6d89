#include "src/pack/job/estimate.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include "recpack/base/error.h"
#include "recpack/base/parallel.h"
#include "recpack/record/writer.h"
#include "src/pack/job/shard_content.h"

namespace recpack::pack {
namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A file that counts the bytes written and discards them.
class NoFile final : public WritableFile {
 public:
  explicit NoFile(uint64_t& bytes) : bytes_(bytes) {}
  void Write(ByteView bytes) override { bytes_ += bytes.size(); }
  void Sync() override {}
  void Close() override {}
  const std::string& path() const noexcept override { return path_; }

 private:
  uint64_t& bytes_;
  std::string path_;
};

void TryItem(ItemReader& reader, size_t split, uint64_t item, Sample& sample,
             RecordWriter& writer) {
  sample.Clear();
  try {
    reader.Read(split, item, sample);
  } catch (const Error&) {
    return;
  }
  WriteSample(sample, writer);
}

}  // namespace

PackEstimate EstimatePack(const Source& source, const Plan& plan, const PackOptions& options,
                          double trial_seconds) {
  constexpr uint64_t kSteps = 1000;  // positions in each split, tried in turn
  const auto reader = source.NewReader();
  Sample sample;
  PackEstimate estimate;
  uint64_t planned = 0, written = 0;
  RecordWriter writer(std::make_unique<NoFile>(written), options.writer);
  const double begin = Now();
  for (uint64_t step = 0; step < kSteps && Now() - begin < trial_seconds; ++step) {
    for (size_t split = 0; split < plan.splits.size(); ++split) {
      const uint64_t items = plan.splits[split].items;
      if (step >= items) continue;
      const uint64_t item =
          PackingOrder(plan, split)(items <= kSteps ? step : items / kSteps * step);
      planned += PlannedBytes(source, split, item);
      TryItem(*reader, split, item, sample, writer);
      ++estimate.tried;
    }
  }
  writer.Finish(false);
  const double spent = Now() - begin;
  const double share =
      static_cast<double>(planned) / static_cast<double>(std::max<uint64_t>(1, plan.bytes()));
  const size_t parts = source.items_take_work() ? plan.items() : plan.shards.size();
  const auto threads =
      static_cast<double>(std::max<size_t>(1, ParallelThreads(parts, options.threads)));
  if (share > 0) estimate.seconds = spent / share / threads;
  if (planned > 0) {
    estimate.bytes_ratio = static_cast<double>(written) / static_cast<double>(planned);
  }
  return estimate;
}

}  // namespace recpack::pack
