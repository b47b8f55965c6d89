#include "src/train/run/trainer.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/start_thread.h"
#include "recpack/loader/token.h"
#include "src/base/format.h"
#include "src/train/run/simulated.h"
#include "src/train/run/time_steps.h"
#include "src/train/run/trainer_state.h"
#include "src/train/run/training_feeders.h"
#include "src/train/setup/complete_options.h"
#include "src/train/setup/data_vocabulary.h"
#include "src/train/setup/gain_options.h"
#include "src/train/setup/make_model.h"
#include "src/train/setup/make_ops.h"
#include "src/train/setup/memory_errors.h"
#include "src/train/world/auto_strategy.h"
#include "src/train/world/check_processes.h"
#include "src/train/world/make_strategies.h"
#include "src/train/world/repetition.h"

namespace recpack::train {
namespace {

// Throws if simulated devices are mixed with others.
bool Simulated(const TrainerOptions& options) {
  const auto simulated =
      std::count_if(options.devices.begin(), options.devices.end(),
                    [](const DeviceSpec& device) { return device.kind == DeviceKind::kSimulated; });
  if (simulated == 0) return false;
  if (static_cast<size_t>(simulated) < options.devices.size() || !options.checkpoints.empty() ||
      !options.resume.empty()) {
    throw Error(
        ErrorKind::kInvalidArgument,
        "simulated devices do not train: they cannot have checkpoints or be mixed with others");
  }
  return true;
}

constexpr uint64_t kMostSteps = uint64_t{1} << 62;  // never reached

int64_t StepsOfEpochs(uint64_t epochs, uint64_t steps_per_epoch) {
  const uint64_t most = kMostSteps / std::max<uint64_t>(1, steps_per_epoch);
  return static_cast<int64_t>(std::min(epochs, most) * steps_per_epoch);
}

// A resumed run equals an uninterrupted one, also in its learning rate. Throws Error
// (kInvalidArgument) if the schedule differs from the checkpoint's and was not requested by
// `schedule_epochs`; notes a requested one.
void CheckSchedule(const CheckpointInfo& begin, const TrainerOptions& options,
                   uint64_t steps_per_epoch, const TrainerNotice& notice) {
  if (begin.schedule_epochs == 0 || options.epochs == 0 || !options.learns) return;
  const uint64_t epochs = ScheduleEpochs(options);
  if (begin.schedule_epochs == epochs && begin.epoch_steps == steps_per_epoch) return;
  const std::string difference =
      format("the checkpoint's learning rate goes by {} epochs of {} steps, this run's by {} of {}",
             begin.schedule_epochs, begin.epoch_steps, epochs, steps_per_epoch);
  if (options.schedule_epochs > 0) {
    if (notice) notice(difference + ", as was asked for");
    return;
  }
  std::string same = "choose devices and --batch-size so that a step has as many samples as before";
  if (begin.epoch_steps == steps_per_epoch) {
    same = format("give --{}epochs {}", begin.schedule_epochs < options.epochs ? "" : "schedule-",
                  begin.schedule_epochs);
  }
  throw Error(ErrorKind::kInvalidArgument, difference, {.path = options.resume},
              format("{}; or, to go on by another schedule on purpose, --schedule-epochs {}", same,
                     epochs));
}

LearningRate MakeRate(const TrainerOptions& options, uint64_t steps_per_epoch) {
  const double warmup = options.warmup_epochs * static_cast<double>(steps_per_epoch);
  return {.peak = options.learns ? options.optimizer.rate : 0,
          .warmup_steps = static_cast<int64_t>(std::min(warmup, static_cast<double>(kMostSteps))),
          // independent of max_steps: a run that stops there and resumes equals an uninterrupted
          // one
          .steps = StepsOfEpochs(ScheduleEpochs(options), steps_per_epoch)};
}

}  // namespace

uint64_t ScheduleEpochs(const TrainerOptions& options) {
  return options.schedule_epochs > 0 ? options.schedule_epochs : options.epochs;
}

Trainer::State::State(std::shared_ptr<const ProcessWorld> of_all, TrainerOptions complete,
                      TrainerNotice tell)
    : notice(std::move(tell)),
      world(std::move(of_all)),
      placement(PlaceModel(complete)),
      options(WithStrategy(OnDevicesThatAreThere(std::move(complete), notice), *world, notice)),
      simulated(Simulated(options)) {
  if (options.log_placement && notice && !simulated) {
    notice(IsPlaced(options)
               ? DescribePlacement(placement.graph, placement.device_of, options.devices)
               : DescribeWhole(MakeGraph(options), options.devices));
  }
  CheckProcesses(options, *world);
  checkpoints.emplace(options, *world, notice);
  // Timed steps take batches after the training.
  const uint64_t epochs = options.timing.inputs.empty() ? options.epochs : 0;
  feeder = TrainingFeeder(options, *world, checkpoints->begin(), notice, epochs);
  const uint64_t epoch_steps = feeder->steps_per_epoch();
  CheckSchedule(checkpoints->begin(), options, epoch_steps, notice);
  rate = MakeRate(options, epoch_steps);
  steps_behind = StepsBehind();
  last_step = StepsOfEpochs(options.epochs, epoch_steps) - steps_behind;
  if (options.max_steps > 0) last_step = std::min(options.max_steps, last_step);
  if (simulated) return;
  if (!options.word_vectors.empty() && !options.resume.empty()) {
    if (notice)
      notice(format("{} is not read: the checkpoint has all vectors", options.word_vectors));
  } else if (!options.word_vectors.empty()) {
    word_vectors = LoadWordVectors(options, notice);
    if (world->processes() > 1) world->CheckSame({{"word vectors", word_vectors->Digest()}});
  }
  if (options.evaluate) eval_feeder = EvaluationFeeder(options, *world);
  const size_t count = FedDevices(options).size();
  control = world->Control();
  norms = world->Norms();
  gradient_sums = ChooseGradientSums(options, *world);
  auto strategies = MakeStrategies(options, *world, gradient_sums.on_devices);
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

// Returns what to add to the checkpoint's step number, which may count steps of another size, to
// get the number of this run's steps that take as many samples.
int64_t Trainer::State::StepsBehind() const {
  const CheckpointInfo& begin = checkpoints->begin();
  const uint64_t epoch_steps = feeder->steps_per_epoch();
  if (begin.epoch_steps == 0 || begin.epoch_steps == epoch_steps) return 0;
  const ResumeToken token = ParseToken(begin.loader_token);
  const uint64_t taken = token.epoch < begin.epoch ? 0 : token.position;
  return StepsOfEpochs(begin.epoch, epoch_steps) +
         static_cast<int64_t>(taken / (options.batch_size * world->towers())) -
         static_cast<int64_t>(begin.step);
}

// Joins the processes first, so that all learn of a failure in one of them.
Trainer::Trainer(TrainerOptions options, const TrainerNotice& notice) {
  const auto world = std::make_shared<const ProcessWorld>(options.join, FedDevices(options).size());
  try {
    const TrainerNotice tell = world->rank() == 0 ? notice : TrainerNotice();
    TrainerOptions complete = CompleteOptions(AdaptToGainRun(std::move(options), tell));
    const size_t batch_size = complete.batch_size;
    WithMemoryErrors([] { return "this process's devices"; }, batch_size,
                     [&] { state_ = std::make_unique<State>(world, std::move(complete), tell); });
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
  if (!state_->gradient_sums.text.empty()) text += "; " + state_->gradient_sums.text;
  return text + DescribeSteps(state_->options, state_->world->towers());
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
  threads.reserve(state.towers.size());
  try {
    for (size_t i = 0; i < state.towers.size(); ++i) {
      threads.push_back(StartThread([&state, i] { state.RunTower(i); }));
    }
  } catch (const std::exception& error) {
    state.Fail(threads.size(), error.what());  // the others wait for that tower
  }
  for (std::thread& thread : threads) thread.join();
  if (state.failure) std::rethrow_exception(state.failure);
}

}  // namespace recpack::train
