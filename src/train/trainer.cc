#include "recpack/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/device/feeder.h"
#include "recpack/train/collective.h"
#include "recpack/train/schedule.h"
#include "src/base/format.h"
#include "src/train/check_processes.h"
#include "src/train/epoch_sums.h"
#include "src/train/make_model.h"
#include "src/train/make_ops.h"
#include "src/train/make_strategies.h"
#include "src/train/model_placement.h"
#include "src/train/process_world.h"
#include "src/train/run_checkpoints.h"
#include "src/train/seconds.h"
#include "src/train/simulated.h"
#include "src/train/time_steps.h"
#include "src/train/tower.h"
#include "src/train/tower_input.h"
#include "src/train/training_feeders.h"

namespace recpack {
namespace {

using Clock = std::chrono::steady_clock;

// Throws where simulated devices stand beside others.
bool Simulated(const TrainerOptions& options) {
  const auto simulated =
      std::count_if(options.devices.begin(), options.devices.end(),
                    [](const DeviceSpec& device) { return device.kind == DeviceKind::kSimulated; });
  if (simulated == 0) return false;
  if (static_cast<size_t>(simulated) < options.devices.size() || !options.checkpoints.empty() ||
      !options.resume.empty()) {
    throw Error(ErrorKind::kInvalidArgument,
                "simulated devices train nothing: they have no checkpoints and stand alone");
  }
  return true;
}

LearningRate RateOf(const TrainerOptions& options, uint64_t steps_per_epoch) {
  const auto steps = static_cast<int64_t>(steps_per_epoch);
  return {.peak = options.optimizer.rate,
          .warmup_steps = static_cast<int64_t>(options.warmup_epochs * static_cast<double>(steps)),
          .steps =
              options.max_steps ? options.max_steps : steps * static_cast<int64_t>(options.epochs)};
}

// The sums of the epoch that the checkpoint was made in.
LossSums BeginningOf(const CheckpointInfo& info) {
  if (info.sums.empty()) return {};
  const auto sum = [&](const char* name) { return static_cast<float>(info.sums.at(name)); };
  return {sum("loss"), sum("correct"), sum("samples")};
}

}  // namespace

struct Trainer::State {
  State(std::shared_ptr<const ProcessWorld> of_all, TrainerOptions complete,
        const TrainerNotice& notice);

  const std::shared_ptr<const ProcessWorld> world;
  const ModelPlacement placement;
  const TrainerOptions options;
  const bool simulated;
  std::optional<RunCheckpoints> checkpoints;
  std::unique_ptr<DeviceFeeder> feeder, eval_feeder;
  std::vector<std::unique_ptr<Tower>> towers;
  // Of the towers: barriers and sums, and batch statistics.
  std::vector<std::unique_ptr<Collective>> control, norms;
  LearningRate rate;
  std::function<void(const EpochReport&)> report;
  std::vector<double> losses;  // of whole steps
  std::vector<StepTiming> timings;

  std::mutex mutex;  // of what follows
  std::exception_ptr failure;

  void Build(size_t index);
  void RunTower(size_t index) noexcept;
  void TrainAndEvaluate(size_t index);
  // Goes on to the end of the epoch, or of the training.
  void TrainEpoch(size_t index, CheckpointInfo& at, TowerInput& input, TowerEpoch& epoch);
  // Of all towers at once, which have settled.
  void Save(size_t index, const CheckpointInfo& at, const LossSums& train);
  LossSums Step(size_t index, uint64_t step, DeviceBatch& batch, double learning_rate);
  LossSums EvaluateAll(size_t index);
  // `step`: how many were made before.
  void TimeInputs(size_t index, uint64_t step);
  void Fail(size_t index, const std::string& reason) noexcept;
  [[noreturn]] void RefuseStep(size_t index, uint64_t step, const LossSums& sums,
                               const DeviceBatch& batch);
};

Trainer::State::State(std::shared_ptr<const ProcessWorld> of_all, TrainerOptions complete,
                      const TrainerNotice& notice)
    : world(std::move(of_all)),
      placement(PlaceModel(complete)),
      options(OnDevicesThatAreThere(std::move(complete), notice)),
      simulated(Simulated(options)) {
  if (options.log_placement && notice && !placement.graph.empty()) {
    notice(DescribePlacement(placement.graph, placement.device_of, options.devices));
  }
  CheckProcesses(options, *world);
  checkpoints.emplace(options, *world, notice);
  feeder = TrainingFeeder(options, *world, checkpoints->begin().loader_token);
  rate = RateOf(options, feeder->steps_per_epoch());
  if (simulated) return;
  if (options.evaluate) eval_feeder = EvaluationFeeder(options, *world);
  const size_t count = FedDevices(options).size();
  control = world->Control();
  norms = world->Norms();
  auto strategies = MakeStrategies(options, *world);
  const float scale =
      1.0F / static_cast<float>(options.batch_size * (options.async ? 1 : world->towers()));
  for (size_t i = 0; i < count; ++i) {
    std::vector<std::unique_ptr<Ops>> devices;
    const size_t end = IsPlaced(options) ? options.devices.size() : i + 1;
    for (size_t k = i; k < end; ++k) devices.push_back(MakeOps(options, k, world->processors()));
    towers.push_back(std::make_unique<Tower>(std::move(devices), std::move(strategies[i]), scale));
    if (IsPlaced(options)) towers[i]->Place(placement.graph, placement.device_of);
  }
}

// Processes are joined first, so that all hear of whatever fails at one.
Trainer::Trainer(TrainerOptions options, const TrainerNotice& notice) {
  const auto world = std::make_shared<const ProcessWorld>(options.join, FedDevices(options).size());
  try {
    state_ = std::make_unique<State>(world, CompleteOptions(std::move(options)),
                                     world->rank() == 0 ? notice : TrainerNotice());
  } catch (const std::exception& error) {
    world->Abort(error.what());
    throw;
  }
}

Trainer::~Trainer() = default;

const std::vector<double>& Trainer::losses() const noexcept { return state_->losses; }

const std::vector<StepTiming>& Trainer::timings() const noexcept { return state_->timings; }

std::string Trainer::Describe() const {
  if (state_->simulated) return format("{} simulated devices", state_->options.devices.size());
  std::string text;
  if (const ProcessWorld& world = *state_->world; world.processes() > 1) {
    text = format("rank {} of {}, which have {} devices", world.rank(), world.processes(),
                  world.towers());
  }
  auto device = state_->options.devices.begin();
  for (const auto& tower : state_->towers) {
    for (const auto& ops : tower->devices()) {
      text += format("{}{}: {}", text.empty() ? "" : "; ", DeviceName(*device++), ops->Describe());
    }
  }
  return text;
}

void Trainer::Run(const std::function<void(const EpochReport&)>& report) {
  State& state = *state_;
  if (state.simulated) {
    RunSimulated(state.options, *state.feeder, report);
    state.timings = TimeSimulated(state.options, *state.feeder);
    return;
  }
  state.report = report;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < state.towers.size(); ++i) {
    threads.emplace_back([&state, i] { state.RunTower(i); });
  }
  for (std::thread& thread : threads) thread.join();
  if (state.failure) std::rethrow_exception(state.failure);
}

void Trainer::State::RunTower(size_t index) noexcept {
  try {
    TrainAndEvaluate(index);
  } catch (const std::exception& error) {
    Fail(index, error.what());
  }
}

// The first failure is what is told; what it brings upon the others is not. They stop at their next
// call of what is aborted here, in other processes with this one's reason.
void Trainer::State::Fail(size_t index, const std::string& reason) noexcept {
  {
    const std::lock_guard lock(mutex);
    if (failure) return;
    failure = std::current_exception();
  }
  feeder->Abort(reason);
  if (eval_feeder) eval_feeder->Abort(reason);
  for (const auto& tower : towers) tower->strategy().Abort(reason);
  control[index]->Abort(reason);
  norms[index]->Abort(reason);
}

void Trainer::State::Build(size_t index) {
  const auto make = [&](Ops& ops, Placement* placed) {
    ModelContext context{.ops = &ops,
                         .placement = placed,
                         .batch = options.batch_size,
                         .type = options.type,
                         .layout = options.layout,
                         .fused_norm = options.fused_norm};
    if (options.norm_sync && world->towers() > 1) {
      context.sum_over_devices = [collective = norms[index].get()](float* values, size_t count) {
        collective->AllReduce({values, count});
      };
    }
    return MakeModel(options, context);
  };
  towers[index]->Build(make, options.seed);
  checkpoints->Restore(*towers[index]);
  control[index]->Barrier();
  if (index == 0) checkpoints->AllRestored();
}

void Trainer::State::TrainAndEvaluate(size_t index) {
  Build(index);
  Collective& all = *control[index];
  VariableStrategy& strategy = towers[index]->strategy();
  TowerInput input(*feeder, index, options.input);
  CheckpointInfo at = checkpoints->begin();
  TowerEpoch epoch;
  if (all.rank() == 0) epoch.train = BeginningOf(at);
  for (; at.epoch < options.epochs && static_cast<int64_t>(at.step) < rate.steps; epoch = {}) {
    EpochReport now{.epoch = at.epoch};
    const ExchangeAccount before = strategy.account();
    const double waited = input.waited();
    auto since = Clock::now();
    TrainEpoch(index, at, input, epoch);
    epoch.input_waited = input.waited() - waited;
    strategy.Settle();
    all.Barrier();
    now.steps = static_cast<int64_t>(at.step);
    now.train_seconds = SecondsSince(since);
    now.transfers = towers[index]->TakeTransfers();  // one tower where there are any
    ++at.epoch;
    if (checkpoints->written()) Save(index, at, {});
    since = Clock::now();
    if (eval_feeder) epoch.evaluation = EvaluateAll(index);
    now.evaluation_seconds = SecondsSince(since);
    towers[index]->TakeTransfers();

    const ExchangeAccount& account = strategy.account();
    epoch.exchange = {account.calls - before.calls, account.bytes - before.bytes,
                      account.waited - before.waited};
    AddUp(all, epoch, now);
    const auto of_steps = StepLosses(all, epoch.steps);
    if (index > 0) continue;
    losses.insert(losses.end(), of_steps.begin(), of_steps.end());
    if (all.rank() == 0) report(now);
  }
  input.Release();
  if (!options.timing.inputs.empty()) TimeInputs(index, at.step);
}

void Trainer::State::TrainEpoch(size_t index, CheckpointInfo& at, TowerInput& input,
                                TowerEpoch& epoch) {
  bool past_end = !checkpoints->skip_end() || at.step > checkpoints->begin().step;
  while (static_cast<int64_t>(at.step) < rate.steps) {
    DeviceBatch* batch = input.Next();
    if (!batch && !past_end) {
      past_end = true;
      continue;
    }
    if (!batch) return;
    past_end = true;
    const LossSums sums = Step(index, at.step, *batch, rate.At(static_cast<int64_t>(at.step)));
    epoch.steps.push_back(sums);
    Add(sums, epoch.train);
    ++at.step;
    at.loader_token = batch->token();
    if (!checkpoints->IsDue(at.step)) continue;
    towers[index]->strategy().Settle();
    Save(index, at, epoch.train);
  }
}

LossSums Trainer::State::Step(size_t index, uint64_t step, DeviceBatch& batch,
                              double learning_rate) {
  const LossSums sums = towers[index]->Train(
      batch, {.rate = learning_rate, .number = static_cast<int64_t>(step) + 1});
  if (!std::isfinite(sums.loss) || sums.bad_labels > 0) RefuseStep(index, step, sums, batch);
  return sums;
}

void Trainer::State::TimeInputs(size_t index, uint64_t step) {
  VariableStrategy& strategy = towers[index]->strategy();
  const TimedDevice device{.feeder = *feeder,
                           .index = index,
                           .control = *control[index],
                           .step = [&](DeviceBatch& batch) { Step(index, step++, batch, 0); },
                           .settle = [&] { strategy.Settle(); },
                           .account = [&] { return strategy.account(); }};
  auto timed = TimeSteps(device, options.timing);
  if (index == 0) timings = std::move(timed);
}

void Trainer::State::Save(size_t index, const CheckpointInfo& at, const LossSums& train) {
  const LossSums sums = AddUp(*control[index], train);
  if (control[index]->rank() == 0) checkpoints->Save(at, sums, *towers[index]);
  control[index]->Barrier();
}

// With the statistics of the first device.
LossSums Trainer::State::EvaluateAll(size_t index) {
  Collective& all = *control[index];
  std::vector<float> statistics = towers[index]->Statistics();
  all.Broadcast(std::as_writable_bytes(std::span(statistics)), 0);
  if (all.rank() > 0) towers[index]->SetStatistics(statistics);
  LossSums total;
  while (auto batch = eval_feeder->Next(index)) {
    all.Check();  // no other call may come for long
    const LossSums sums = towers[index]->Evaluate(*batch);
    CheckLabels(options, sums, "of the evaluation", batch->token());
    Add(sums, total);
  }
  return total;
}

void Trainer::State::RefuseStep(size_t index, uint64_t step, const LossSums& sums,
                                const DeviceBatch& batch) {
  CheckLabels(options, sums, format("of step {}", step), batch.token());
  const std::string layer = towers[index]->FirstBadLayer();
  throw Error(ErrorKind::kInvalidArgument,
              format("the loss of step {} is not a number; the first layer with such numbers is {}",
                     step, layer.empty() ? "the loss itself" : layer),
              {}, format("lower the learning rate; the batch's token is {}", batch.token()));
}

}  // namespace recpack
