#include "bench/probe/planted_input.h"

#include <numeric>
#include <utility>
#include <vector>

#include "bench/probe/busy.h"
#include "bench/probe/throttled_files.h"
#include "recpack/base/event_log.h"
#include "recpack/device/feeder.h"
#include "recpack/loader/loader.h"

namespace recpack::bench {
namespace {

constexpr uint32_t kBatch = 8;
constexpr int kThreads = 2;
// Share of the step time that an input in time takes for a batch.
constexpr double kInTime = 0.8;        // asleep
constexpr double kInTimeAtWork = 0.6;  // computing on all processors

FunctionField Taking(Seconds mean, void (*spend)(Seconds)) {
  return {.arrays = {{.name = "planted", .type = ElementType::kU8, .sample_bytes = 1}},
          .call = [mean, spend](SampleView& sample) {
            spend(mean * (0.8 + 0.4 * static_cast<double>(sample.random.NextUnit())));
            sample.out[0][0] = 0;
          }};
}

// Returns a worker's time per sample with which the batches of all ranks take `step`.
Seconds SampleTime(Seconds step, uint32_t ranks) { return step * kThreads / (kBatch * ranks); }

LoaderOptions MakeOptions(const Case& planted, uint32_t ranks) {
  LoaderOptions options{.fields = {NumbersField{.name = "image/class/label"}},
                        .batch_size = kBatch,
                        .order = {.kind = OrderKind::kGlobal},
                        .seed = planted.seed,
                        .threads = kThreads};
  // Mapped shards would bypass the throttled file system.
  options.source.backend = RandomAccessOptions::Backend::kPread;
  const auto add = [&](Seconds step, void (*spend)(Seconds)) {
    options.fields.push_back(Taking(SampleTime(step, ranks), spend));
  };
  const auto add_to_batch = [&](Seconds step, void (*spend)(Seconds)) {
    options.batch_steps.push_back(BatchFunction{
        .arrays = {},
        .call = [time = step * kThreads / ranks, spend](BatchView&) { spend(time); }});
  };
  for (const PlantedPart& part : planted.also) {
    if (part.cause == Cause::kFunction) add(part.time, Sleep);
    if (part.cause == Cause::kBurn) add(part.time, Burn);
    if (part.cause == Cause::kBatchFunction) add_to_batch(part.time, Sleep);
    if (part.cause == Cause::kBatchBurn) add_to_batch(part.time, Burn);
  }
  if (planted.perfect_input) return options;
  switch (planted.cause) {
    case Cause::kFunction:
    case Cause::kSlowRankInput:
      add(planted.slowed(), Sleep);
      break;
    case Cause::kBackground:
      add(planted.step * kInTime, Sleep);
      break;
    case Cause::kBurn:
      add(planted.step * kInTimeAtWork, Burn);
      break;
    case Cause::kDecode:
      // More threads would also delay the training threads: a second cause.
      options.threads = 1;
      options.fields.push_back(ImageField{
          .height = 64, .width = 64, .crop = CropKind::kResize, .type = ElementType::kU8});
      break;
    case Cause::kBatchFunction:
      add_to_batch(planted.slowed(), Sleep);
      break;
    default:
      break;
  }
  return options;
}

class FedInput : public PlantedInput {
 public:
  FedInput(const std::string& data, const Case& planted) {
    DatasetOptions options;
    if (planted.HasInputCause(Cause::kStorage)) {
      const Dataset unthrottled = Dataset::Open(data);
      const double record =
          static_cast<double>(unthrottled.bytes()) / static_cast<double>(unthrottled.records());
      files_ = std::make_unique<ThrottledFiles>(kBatch * planted.ranks * record /
                                                planted.slowed().count());
      options.files = files_.get();
    }
    std::vector<int> devices(planted.ranks);
    std::iota(devices.begin(), devices.end(), 0);
    feeder_ = std::make_unique<DeviceFeeder>(
        Dataset::Open(data, options), MakeOptions(planted, planted.ranks),
        DeviceFeederOptions{.runtime = nullptr, .devices = devices});
  }

  void Take(uint32_t rank) override {
    while (!feeder_->Next(rank)) {
    }
  }

 private:
  std::unique_ptr<ThrottledFiles> files_;
  std::unique_ptr<DeviceFeeder> feeder_;
};

class OwnInputs : public PlantedInput {
 public:
  OwnInputs(const std::string& data, const Case& planted) : planted_(planted) {
    const Dataset dataset = Dataset::Open(data);
    for (uint32_t rank = 0; rank < planted.ranks; ++rank) {
      Case of_rank = planted;
      of_rank.perfect_input |= rank != planted.odd_rank();
      LoaderOptions options = MakeOptions(of_rank, 1);
      options.rank = rank;
      options.world_size = planted.ranks;
      loaders_.push_back(std::make_unique<Loader>(dataset, std::move(options)));
    }
  }

  void Take(uint32_t rank) override {
    while (!loaders_[rank]->Next()) {
    }
    if (!planted_.HasInputCause(Cause::kHiddenWait) || rank != planted_.odd_rank()) return;
    // Waits explicitly: in a step that other ranks make long, the loader would have caught up.
    const InputWaitSpan span(static_cast<uint16_t>(rank));
    Sleep(planted_.slowed() - planted_.step);
  }

 private:
  const Case planted_;
  std::vector<std::unique_ptr<Loader>> loaders_;
};

}  // namespace

std::unique_ptr<PlantedInput> MakeInput(const std::string& data, const Case& planted) {
  if (planted.cause == Cause::kSlowRankInput || planted.cause == Cause::kHiddenWait) {
    return std::make_unique<OwnInputs>(data, planted);
  }
  return std::make_unique<FedInput>(data, planted);
}

}  // namespace recpack::bench
