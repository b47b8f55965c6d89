#include "src/train/training_feeders.h"

#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/make_model.h"
#include "src/train/make_ops.h"

namespace recpack {
namespace {

Dataset OpenEvaluation(const TrainerOptions& options) {
  if (!options.eval_split.empty())
    return Dataset::Open(options.data, {.split = options.eval_split});
  for (const char* split : {"test", "eval", "validation"}) {
    try {
      return Dataset::Open(options.data, {.split = split});
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kNotFound && error.kind() != ErrorKind::kInvalidArgument) {
        throw;
      }
    }
  }
  throw Error(ErrorKind::kNotFound, "there is no split to evaluate on", {.path = options.data},
              "name one, or train without evaluation");
}

LoaderOptions LoaderOf(const TrainerOptions& options, bool training) {
  LoaderOptions loader;
  loader.fields = ModelFields(options, training);
  loader.batch_size = options.batch_size;
  loader.seed = options.seed;
  loader.threads = options.loader_threads;
  return loader;
}

DeviceFeederOptions FeederOf(const TrainerOptions& options) {
  DeviceFeederOptions feeder;
  feeder.runtime = FeedingRuntime(options);
  const std::vector<DeviceSpec> devices = FedDevices(options);
  for (size_t i = 0; i < devices.size(); ++i) {
    feeder.devices.push_back(feeder.runtime ? devices[i].number : static_cast<int>(i));
  }
  return feeder;
}

}  // namespace

std::unique_ptr<DeviceFeeder> TrainingFeeder(const TrainerOptions& options,
                                             const std::string& token) {
  const Dataset data = Dataset::Open(options.data, {.split = options.train_split});
  LoaderOptions loader = LoaderOf(options, true);
  loader.resume = token;
  auto feeder = std::make_unique<DeviceFeeder>(data, std::move(loader), FeederOf(options));
  if (feeder->steps_per_epoch() == 0) {
    throw Error(ErrorKind::kInvalidArgument,
                format("an epoch has no batch of {} samples for each of {} devices",
                       options.batch_size, FedDevices(options).size()),
                {.path = options.data}, "choose a smaller batch, or fewer devices");
  }
  return feeder;
}

std::unique_ptr<DeviceFeeder> EvaluationFeeder(const TrainerOptions& options) {
  LoaderOptions loader = LoaderOf(options, false);
  loader.order = ParseOrder("sequential");
  loader.last_batch = LastBatch::kPad;
  return std::make_unique<DeviceFeeder>(OpenEvaluation(options), std::move(loader),
                                        FeederOf(options));
}

}  // namespace recpack
