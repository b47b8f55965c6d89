#include "src/train/run/training_feeders.h"

#include <algorithm>
#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/setup/make_model.h"
#include "src/train/setup/make_ops.h"
#include "src/train/setup/picture_data.h"
#include "src/train/world/repetition.h"

namespace recpack::train {
namespace {

Dataset OpenEvaluation(const TrainerOptions& options) {
  if (!options.eval_split.empty()) return OpenSplit(options, options.eval_split);
  for (const char* split : {"test", "eval", "validation", "val", "valid", "dev"}) {
    try {
      return OpenSplit(options, split);
    } catch (const Error& error) {
      const bool lacks_split =  // the data is a data set rather than a single shard
          error.kind() == ErrorKind::kNotFound && error.place().path == options.data;
      if (!lacks_split && error.kind() != ErrorKind::kInvalidArgument) throw;
    }
  }
  throw Error(ErrorKind::kNotFound, "there is no split to evaluate on", {.path = options.data},
              "name one (--eval-split), or train without evaluation (--no-evaluation)");
}

LoaderOptions ToLoaderOptions(const TrainerOptions& options, const ProcessWorld& world,
                              bool training) {
  LoaderOptions loader;
  loader.fields = ModelFields(options, training);
  loader.batch_size = options.batch_size;
  loader.seed = options.seed;
  loader.threads = options.loader_threads;
  loader.in_gain_runs = training;
  if (world.processes() > 1) {
    loader.share = RankShare::kBatches;
    loader.world_size = static_cast<uint32_t>(world.towers());
    loader.rank = static_cast<uint32_t>(world.first_tower());
    loader.local_ranks = static_cast<uint32_t>(options.devices.size());
  }
  return loader;
}

std::string LedgerPath(const TrainerOptions& options, const ProcessWorld& world) {
  if (options.ledger.empty() || world.rank() == 0) return options.ledger;
  return format("{}.{}", options.ledger, world.rank());
}

DeviceFeederOptions ToFeederOptions(const TrainerOptions& options) {
  DeviceFeederOptions feeder;
  feeder.runtime = FeedingRuntime(options);
  for (const DeviceSpec& device : FedDevices(options)) {
    feeder.devices.push_back(device.kind == DeviceKind::kCuda ? device.number : kHostConsumer);
  }
  return feeder;
}

}  // namespace

std::unique_ptr<DeviceFeeder> TrainingFeeder(const TrainerOptions& options,
                                             const ProcessWorld& world, const CheckpointInfo& begin,
                                             const TrainerNotice& notice, uint64_t epochs) {
  const Dataset data = OpenSplit(options, options.train_split);
  for (const std::string& text : notice ? data.Notices() : std::vector<std::string>()) {
    notice("note: " + text);
  }
  LoaderOptions loader = ToLoaderOptions(options, world, true);
  loader.order = options.order;
  loader.cache = options.cache;
  loader.epochs = epochs;
  if (options.prefetch > 0) loader.prefetch = options.prefetch;
  loader.resume = begin.loader_token;
  if (!begin.loader_audit.empty() && world.rank() == 0) {  // of all processes
    loader.audit = EpochAudit::Parse(begin.loader_audit);
  }
  loader.on_bad_record = options.on_bad_record;
  loader.max_bad_share = options.max_bad_share;
  loader.ledger = LedgerPath(options, world);
  world.CheckSame({{"the data set", data.digest()}});
  const uint64_t records = data.records();
  if (records / options.batch_size < world.towers()) {
    throw Error(ErrorKind::kInvalidArgument,
                format("an epoch of {} records has no batch of {} for each of {} devices", records,
                       options.batch_size, world.towers()),
                {.path = options.data}, "choose a smaller batch, or fewer devices");
  }
  DeviceFeederOptions feeder = ToFeederOptions(options);
  // One half is in use by the tower, the other in transfer.
  if (const size_t held = StepsAtOnce(options, world.towers()); held > 1) {
    feeder.depth = std::max(feeder.depth, static_cast<uint32_t>(2 * held));
  }
  return std::make_unique<DeviceFeeder>(data, std::move(loader), std::move(feeder));
}

std::unique_ptr<DeviceFeeder> EvaluationFeeder(const TrainerOptions& options,
                                               const ProcessWorld& world) {
  LoaderOptions loader = ToLoaderOptions(options, world, false);
  loader.order = ParseOrder("sequential");
  loader.last_batch = LastBatch::kPad;
  return std::make_unique<DeviceFeeder>(OpenEvaluation(options), std::move(loader),
                                        ToFeederOptions(options));
}

}  // namespace recpack::train
