#include "recpack/train/trainer.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <mutex>
#include <thread>
#include <utility>

#include "recpack/base/cpu.h"
#include "recpack/base/error.h"
#include "recpack/device/feeder.h"
#include "recpack/pipeline/recipe.h"
#include "recpack/train/schedule.h"
#include "src/base/format.h"
#include "src/train/make_ops.h"
#include "src/train/single_device.h"
#include "src/train/tower.h"

namespace recpack {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Pictures as the model's first layer reads them.
std::vector<Field> FieldsOf(const TrainerOptions& options, const std::string& recipe) {
  std::vector<Field> fields = Recipe(recipe);
  for (Field& field : fields) {
    if (auto* image = std::get_if<ImageField>(&field)) {
      image->type = options.type == ValueType::kBf16 ? ElementType::kBf16 : ElementType::kF32;
      image->layout = options.layout;
    }
  }
  return fields;
}

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

LoaderOptions LoaderOf(const TrainerOptions& options, const std::string& recipe, bool training) {
  LoaderOptions loader;
  loader.fields = FieldsOf(options, recipe);
  loader.batch_size = options.batch_size;
  loader.seed = options.seed;
  loader.threads = options.loader_threads;
  if (!training) {
    loader.order = ParseOrder("sequential");
    loader.last_batch = LastBatch::kPad;
  }
  return loader;
}

DeviceFeederOptions FeederOf(const TrainerOptions& options) {
  DeviceFeederOptions feeder;
  for (const DeviceSpec& device : options.devices) feeder.devices.push_back(device.number);
  feeder.runtime = nullptr;
  return feeder;
}

}  // namespace

struct Trainer::State {
  explicit State(TrainerOptions given) : options(std::move(given)) {}

  TrainerOptions options;
  std::unique_ptr<DeviceFeeder> feeder, eval_feeder;
  std::vector<std::unique_ptr<Tower>> towers;
  LearningRate rate;
  std::vector<double> losses;
  std::function<void(const EpochReport&)> report;

  // Of the epoch that runs, over all towers.
  std::mutex mutex;
  EpochReport epoch;
  LossSums train_sums, eval_sums;
  std::vector<double> step_losses;  // sums over towers

  void RunTower(size_t index);
  bool TrainEpoch(size_t index, int64_t& step, LossSums& total, double& wait);
  void EvaluateAll(size_t index, LossSums& total);
  [[noreturn]] void RefuseStep(size_t index, int64_t step, const LossSums& sums,
                               const DeviceBatch& batch);
};

Trainer::Trainer(TrainerOptions given) : state_(std::make_unique<State>(std::move(given))) {
  TrainerOptions& options = state_->options;
  const size_t count = options.devices.size();
  if (count != 1) {
    throw Error(ErrorKind::kUnsupported, "only one device can be trained on yet");
  }
  const Dataset train = Dataset::Open(options.data, {.split = options.train_split});
  state_->feeder = std::make_unique<DeviceFeeder>(train, LoaderOf(options, options.recipe, true),
                                                  FeederOf(options));
  if (options.evaluate) {
    state_->eval_feeder = std::make_unique<DeviceFeeder>(
        OpenEvaluation(options), LoaderOf(options, options.eval_recipe, false), FeederOf(options));
  }
  const auto steps = static_cast<int64_t>(state_->feeder->steps_per_epoch());
  if (steps == 0) {
    throw Error(ErrorKind::kInvalidArgument,
                format("an epoch has no batch of {} samples for each of {} devices",
                       options.batch_size, count),
                {.path = options.data}, "choose a smaller batch");
  }
  state_->rate = {
      .peak = options.optimizer.rate,
      .warmup_steps = static_cast<int64_t>(options.warmup_epochs * static_cast<double>(steps)),
      .steps =
          options.max_steps ? options.max_steps : steps * static_cast<int64_t>(options.epochs)};
  const float scale = 1.0F / static_cast<float>(options.batch_size * count);
  for (size_t i = 0; i < count; ++i) {
    state_->towers.push_back(std::make_unique<Tower>(
        MakeOps(options, i), std::make_unique<SingleDevice>(options.optimizer), scale));
  }
}

Trainer::~Trainer() = default;

const std::vector<double>& Trainer::losses() const noexcept { return state_->losses; }

std::string Trainer::Describe() const {
  std::string text;
  for (const auto& tower : state_->towers) {
    text += (text.empty() ? "" : "; ") + tower->ops().Describe();
  }
  return text;
}

void Trainer::Run(const std::function<void(const EpochReport&)>& report) {
  state_->report = report;
  std::exception_ptr failure;
  std::thread([&] {
    try {
      state_->RunTower(0);
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
}

void Trainer::State::RunTower(size_t index) {
  Tower& tower = *towers[index];
  const TrainerOptions& o = options;
  tower.Build(
      [&](Ops& ops) {
        return MakeResnet({.ops = &ops,
                           .batch = o.batch_size,
                           .type = o.type,
                           .layout = o.layout,
                           .fused_norm = o.fused_norm},
                          o.resnet);
      },
      o.seed);
  int64_t step = 0;
  for (uint64_t number = 0; number < o.epochs && step < rate.steps; ++number) {
    LossSums train, evaluation;
    EpochReport now{.epoch = number};
    auto begin = Clock::now();
    TrainEpoch(index, step, train, now.input_wait_seconds);
    now.train_seconds = SecondsSince(begin);
    begin = Clock::now();
    if (eval_feeder) EvaluateAll(index, evaluation);
    now.evaluation_seconds = SecondsSince(begin);
    const auto score = [](const LossSums& sums) {
      const double samples = std::max(1.0, static_cast<double>(sums.samples));
      return Score{sums.loss / samples, sums.correct / samples,
                   static_cast<uint64_t>(sums.samples)};
    };
    now.steps = step;
    now.train = score(train);
    now.evaluation = score(evaluation);
    report(now);
  }
}

bool Trainer::State::TrainEpoch(size_t index, int64_t& step, LossSums& total, double& wait) {
  for (;;) {
    if (step >= rate.steps) return false;
    const auto begin = Clock::now();
    auto batch = feeder->Next(index);
    wait += SecondsSince(begin);
    if (!batch) return true;
    const LossSums sums = towers[index]->Train(*batch, rate.At(step));
    if (!std::isfinite(sums.loss) || sums.bad_labels > 0) RefuseStep(index, step, sums, *batch);
    losses.push_back(static_cast<double>(sums.loss) / static_cast<double>(sums.samples));
    total.loss += sums.loss;
    total.correct += sums.correct;
    total.samples += sums.samples;
    ++step;
  }
}

void Trainer::State::EvaluateAll(size_t index, LossSums& total) {
  while (auto batch = eval_feeder->Next(index)) {
    const LossSums sums = towers[index]->Evaluate(*batch);
    total.loss += sums.loss;
    total.correct += sums.correct;
    total.samples += sums.samples;
  }
}

void Trainer::State::RefuseStep(size_t index, int64_t step, const LossSums& sums,
                                const DeviceBatch& batch) {
  if (sums.bad_labels > 0) {
    throw Error(ErrorKind::kInvalidArgument,
                format("{} labels of step {} are not in 0 to {}", sums.bad_labels, step,
                       options.resnet.classes - 1),
                {.path = options.data},
                format("give --label-offset or --classes; the batch's token is {}", batch.token()));
  }
  const std::string layer = towers[index]->FirstBadLayer();
  throw Error(ErrorKind::kInvalidArgument,
              format("the loss of step {} is not a number; the first layer with such numbers is {}",
                     step, layer.empty() ? "the loss itself" : layer),
              {}, format("lower the learning rate; the batch's token is {}", batch.token()));
}

}  // namespace recpack
