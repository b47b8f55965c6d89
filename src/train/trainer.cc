#include "recpack/train/trainer.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

#include "recpack/base/cpu.h"
#include "recpack/base/error.h"
#include "recpack/device/feeder.h"
#include "recpack/pipeline/token.h"
#include "recpack/train/checkpoint_folder.h"
#include "recpack/train/collective.h"
#include "recpack/train/schedule.h"
#include "src/base/format.h"
#include "src/train/make_model.h"
#include "src/train/make_ops.h"
#include "src/train/make_strategies.h"
#include "src/train/simulated.h"
#include "src/train/tower.h"
#include "src/train/tower_input.h"
#include "src/train/training_state.h"

namespace recpack {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
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

LoaderOptions LoaderOf(const TrainerOptions& options, bool training) {
  LoaderOptions loader;
  loader.fields = ModelFields(options, training);
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
  feeder.runtime = FeedingRuntime(options);
  for (size_t i = 0; i < options.devices.size(); ++i) {
    feeder.devices.push_back(feeder.runtime ? options.devices[i].number : static_cast<int>(i));
  }
  return feeder;
}

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

void Add(const LossSums& sums, LossSums& to) {
  to.loss += sums.loss;
  to.correct += sums.correct;
  to.samples += sums.samples;
}

// Of all towers: loss, correct and samples of training and evaluation, seconds of waiting for input
// and for the exchange.
using EpochSums = std::array<float, 8>;

EpochReport ReportOf(EpochReport report, const EpochSums& sums, const std::vector<uint64_t>& calls,
                     const std::vector<uint64_t>& bytes) {
  const auto score = [](const float* of) {
    const double samples = std::max(1.0F, of[2]);
    return Score{of[0] / samples, of[1] / samples, static_cast<uint64_t>(of[2])};
  };
  const auto devices = static_cast<double>(calls.size());
  report.train = score(sums.data());
  report.evaluation = score(sums.data() + 3);
  report.input_wait_seconds = sums[6] / devices;
  report.exchange_wait_seconds = sums[7] / devices;
  report.exchange_calls = std::accumulate(calls.begin(), calls.end(), uint64_t{0});
  report.exchange_bytes = std::accumulate(bytes.begin(), bytes.end(), uint64_t{0});
  return report;
}

}  // namespace

struct Trainer::State {
  explicit State(TrainerOptions given) : options(std::move(given)) {}

  TrainerOptions options;
  std::unique_ptr<DeviceFeeder> feeder, eval_feeder;
  std::vector<std::unique_ptr<Tower>> towers;
  // Of the towers: barriers and sums, and batch statistics.
  std::vector<std::unique_ptr<Collective>> control, norms;
  LearningRate rate;
  std::function<void(const EpochReport&)> report;

  std::vector<std::vector<LossSums>> steps;  // by tower
  std::vector<float> statistics;             // of the first tower
  std::vector<double> losses;                // of whole steps

  std::optional<CheckpointFolder> folder;
  std::string resumed;    // path; empty: begun anew
  CheckpointInfo begin;   // where this run begins
  bool skip_end = false;  // its loader first tells of the end of the epoch before

  std::mutex mutex;  // of what follows
  std::exception_ptr failure;
  std::atomic<bool> failed = false;

  void Resume(LoaderOptions& loader, const TrainerNotice& notice);
  void RestoreTower(size_t index);
  void Save(size_t index, const CheckpointInfo& at, const LossSums& train);
  void RunTower(size_t index) noexcept;
  void TrainAndEvaluate(size_t index);
  // Goes on to the end of the epoch, or of the training.
  void TrainEpoch(size_t index, CheckpointInfo& at, TowerInput& input, LossSums& total);
  LossSums EvaluateAll(size_t index);
  void AddUpLosses();
  void Fail(size_t index) noexcept;
  [[noreturn]] void RefuseStep(size_t index, int64_t step, const LossSums& sums,
                               const DeviceBatch& batch);
};

Trainer::Trainer(TrainerOptions given, const TrainerNotice& notice)
    : state_(std::make_unique<State>(CompleteOptions(std::move(given)))) {
  TrainerOptions& options = state_->options;
  const size_t count = options.devices.size();
  const Dataset train = Dataset::Open(options.data, {.split = options.train_split});
  LoaderOptions loader = LoaderOf(options, true);
  if (!options.resume.empty()) state_->Resume(loader, notice);
  if (options.input != InputKind::kReal && !options.checkpoints.empty()) {
    throw Error(ErrorKind::kInvalidArgument, "a training on repeated batches has no checkpoints");
  }
  if (!options.checkpoints.empty()) {
    state_->folder.emplace(PosixFiles(), options.checkpoints,
                           CheckpointFolderOptions{.keep = options.keep_checkpoints});
  }
  state_->feeder = std::make_unique<DeviceFeeder>(train, std::move(loader), FeederOf(options));
  if (options.evaluate && !Simulated(options)) {
    state_->eval_feeder = std::make_unique<DeviceFeeder>(
        OpenEvaluation(options), LoaderOf(options, false), FeederOf(options));
  }
  const auto steps = static_cast<int64_t>(state_->feeder->steps_per_epoch());
  if (steps == 0) {
    throw Error(ErrorKind::kInvalidArgument,
                format("an epoch has no batch of {} samples for each of {} devices",
                       options.batch_size, count),
                {.path = options.data}, "choose a smaller batch, or fewer devices");
  }
  state_->rate = {
      .peak = options.optimizer.rate,
      .warmup_steps = static_cast<int64_t>(options.warmup_epochs * static_cast<double>(steps)),
      .steps =
          options.max_steps ? options.max_steps : steps * static_cast<int64_t>(options.epochs)};
  if (Simulated(options)) return;
  state_->control = ThreadCollectives(static_cast<int>(count));
  state_->norms = ThreadCollectives(static_cast<int>(count));
  state_->steps.resize(count);
  auto strategies = MakeStrategies(options);
  const float scale = 1.0F / static_cast<float>(options.batch_size * (options.async ? 1 : count));
  for (size_t i = 0; i < count; ++i) {
    state_->towers.push_back(
        std::make_unique<Tower>(MakeOps(options, i), std::move(strategies[i]), scale));
  }
}

Trainer::~Trainer() = default;

const std::vector<double>& Trainer::losses() const noexcept { return state_->losses; }

std::string Trainer::Describe() const {
  if (state_->towers.empty()) return format("{} simulated devices", state_->options.devices.size());
  std::string text;
  for (size_t i = 0; i < state_->towers.size(); ++i) {
    text += format("{}{}: {}", i == 0 ? "" : "; ", DeviceName(state_->options.devices[i]),
                   state_->towers[i]->ops().Describe());
  }
  return text;
}

void Trainer::Run(const std::function<void(const EpochReport&)>& report) {
  State& state = *state_;
  if (state.towers.empty()) return RunSimulated(state.options, *state.feeder, report);
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
  } catch (...) {
    Fail(index);
  }
}

// The first failure is what is told; what it brings upon the others is not.
void Trainer::State::Fail(size_t index) noexcept {
  std::string reason = format("{} failed", DeviceName(options.devices[index]));
  {
    const std::lock_guard lock(mutex);
    if (failure) return;
    failure = std::current_exception();
    failed = true;
  }
  feeder->Abort(reason);
  if (eval_feeder) eval_feeder->Abort(reason);
  for (const auto& tower : towers) tower->strategy().Abort(reason);
  control[index]->Abort(reason);
  norms[index]->Abort(reason);
}

// Takes the place and the seed; the variables come when the towers are built.
void Trainer::State::Resume(LoaderOptions& loader, const TrainerNotice& notice) {
  resumed = options.resume;
  if (std::filesystem::is_directory(resumed)) {
    const LatestCheckpoint latest = FindLatestCheckpoint(PosixFiles(), resumed);
    for (const SkippedCheckpoint& skipped : latest.skipped) {
      if (notice) notice(format("passed over {}: {}", skipped.path, skipped.reason));
    }
    if (!latest.path) {
      throw Error(ErrorKind::kNotFound, "there is no checkpoint to go on from", {.path = resumed},
                  "begin without resuming");
    }
    resumed = *latest.path;
  }
  begin = ReadCheckpoint(PosixFiles(), resumed).info;
  if (begin.seed != options.seed) {
    throw Error(ErrorKind::kInvalidArgument,
                format("the checkpoint was made with seed {}, not {}", begin.seed, options.seed),
                {.path = resumed}, "give the same seed");
  }
  loader.resume = begin.loader_token;
  skip_end = ParseToken(begin.loader_token).epoch < begin.epoch;
  if (notice) notice(format("going on from {}, step {}", resumed, begin.step));
}

void Trainer::State::RestoreTower(size_t index) {
  Tower& tower = *towers[index];
  const TrainingState fitting(tower.model().variables());
  const Checkpoint checkpoint = LoadCheckpoint(PosixFiles(), resumed,
                                               {.model = tower.model().name(),
                                                .model_options = tower.model().options(),
                                                .arrays = fitting.arrays()});
  TrainingState::Write(checkpoint.stored.arrays, tower.ops(), tower.model().variables(),
                       tower.strategy());
}

// All towers stand behind the same step. `train`: of this tower in the epoch so far.
void Trainer::State::Save(size_t index, const CheckpointInfo& at, const LossSums& train) {
  Tower& tower = *towers[index];
  tower.strategy().Settle();
  std::array<float, 3> sums = {train.loss, train.correct, train.samples};
  control[index]->AllReduce(sums);
  if (index == 0) {
    CheckpointInfo info = at;
    info.model = tower.model().name();
    info.model_options = tower.model().options();
    info.seed = options.seed;
    info.sums = {{"loss", sums[0]}, {"correct", sums[1]}, {"samples", sums[2]}};
    TrainingState state(tower.model().variables());
    state.Read(tower.ops(), tower.model().variables(), tower.strategy());
    folder->Save(info, state.arrays());
  }
  control[index]->Barrier();
}

void Trainer::State::TrainAndEvaluate(size_t index) {
  Tower& tower = *towers[index];
  const TrainerOptions& o = options;
  tower.Build(
      [&](Ops& ops) {
        ModelContext context{.ops = &ops,
                             .batch = o.batch_size,
                             .type = o.type,
                             .layout = o.layout,
                             .fused_norm = o.fused_norm};
        if (o.norm_sync && towers.size() > 1) {
          context.sum_over_devices = [collective = norms[index].get()](float* values,
                                                                       size_t count) {
            collective->AllReduce({values, count});
          };
        }
        return MakeModel(o, context);
      },
      o.seed);
  if (!resumed.empty()) RestoreTower(index);
  control[index]->Barrier();
  TowerInput input(*feeder, index, o.input);
  CheckpointInfo at = begin;
  LossSums train;
  if (index == 0 && !at.sums.empty()) {
    train = {static_cast<float>(at.sums["loss"]), static_cast<float>(at.sums["correct"]),
             static_cast<float>(at.sums["samples"])};
  }
  for (; at.epoch < o.epochs && static_cast<int64_t>(at.step) < rate.steps; train = {}) {
    LossSums evaluation;
    EpochReport now{.epoch = at.epoch};
    const ExchangeAccount before = tower.strategy().account();
    auto since = Clock::now();
    const double waited = input.waited();
    TrainEpoch(index, at, input, train);
    now.input_wait_seconds = input.waited() - waited;
    tower.strategy().Settle();
    control[index]->Barrier();
    now.steps = static_cast<int64_t>(at.step);
    now.train_seconds = SecondsSince(since);
    ++at.epoch;
    if (folder) Save(index, at, {});
    since = Clock::now();
    if (eval_feeder) evaluation = EvaluateAll(index);
    now.evaluation_seconds = SecondsSince(since);

    const ExchangeAccount& account = tower.strategy().account();
    EpochSums sums = {train.loss,
                      train.correct,
                      train.samples,
                      evaluation.loss,
                      evaluation.correct,
                      evaluation.samples,
                      static_cast<float>(now.input_wait_seconds),
                      static_cast<float>(account.waited - before.waited)};
    control[index]->AllReduce(sums);
    const auto calls = GatherValues(*control[index], account.calls - before.calls);
    const auto bytes = GatherValues(*control[index], account.bytes - before.bytes);
    if (index == 0) {
      AddUpLosses();
      report(ReportOf(now, sums, calls, bytes));
    }
    control[index]->Barrier();  // only now the next epoch's losses are written
  }
}

void Trainer::State::TrainEpoch(size_t index, CheckpointInfo& at, TowerInput& input,
                                LossSums& total) {
  bool past_end = !skip_end || at.step > begin.step;
  while (static_cast<int64_t>(at.step) < rate.steps && !failed) {
    DeviceBatch* batch = input.Next();
    if (!batch && !past_end) {
      past_end = true;
      continue;
    }
    if (!batch) return;
    past_end = true;
    const auto step = static_cast<int64_t>(at.step);
    const LossSums sums = towers[index]->Train(*batch, rate.At(step));
    if (!std::isfinite(sums.loss) || sums.bad_labels > 0) RefuseStep(index, step, sums, *batch);
    steps[index].push_back(sums);
    Add(sums, total);
    ++at.step;
    at.loader_token = batch->token();
    if (folder && options.checkpoint_steps > 0 &&
        static_cast<int64_t>(at.step) % options.checkpoint_steps == 0) {
      Save(index, at, total);
    }
  }
}

// With the statistics of the first device.
LossSums Trainer::State::EvaluateAll(size_t index) {
  if (index == 0) statistics = towers[0]->Statistics();
  control[index]->Barrier();
  if (index > 0) towers[index]->SetStatistics(statistics);
  LossSums total;
  while (auto batch = eval_feeder->Next(index)) Add(towers[index]->Evaluate(*batch), total);
  return total;
}

// All towers have ended the epoch, and none begins the next one before the sums of this one.
void Trainer::State::AddUpLosses() {
  for (size_t i = losses.size(); i < steps[0].size(); ++i) {
    LossSums sums;
    for (const auto& of_tower : steps) Add(of_tower[i], sums);
    losses.push_back(static_cast<double>(sums.loss) / static_cast<double>(sums.samples));
  }
}

void Trainer::State::RefuseStep(size_t index, int64_t step, const LossSums& sums,
                                const DeviceBatch& batch) {
  if (sums.bad_labels > 0) {
    const LabelRange range = ModelLabels(options);
    throw Error(ErrorKind::kInvalidArgument,
                format("{} {} of step {} are not in 0 to {}", sums.bad_labels, range.name, step,
                       range.size - 1),
                {.path = options.data},
                format("{}; the batch's token is {}", range.fix, batch.token()));
  }
  const std::string layer = towers[index]->FirstBadLayer();
  throw Error(ErrorKind::kInvalidArgument,
              format("the loss of step {} is not a number; the first layer with such numbers is {}",
                     step, layer.empty() ? "the loss itself" : layer),
              {}, format("lower the learning rate; the batch's token is {}", batch.token()));
}

}  // namespace recpack
