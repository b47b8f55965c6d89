#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/loader/token.h"
#include "src/base/format.h"
#include "src/train/ops/seconds.h"
#include "src/train/ops/step_events.h"
#include "src/train/run/time_steps.h"
#include "src/train/run/trainer_state.h"
#include "src/train/setup/make_model.h"
#include "src/train/setup/memory_errors.h"

namespace recpack::train {
namespace {

using Clock = std::chrono::steady_clock;

// The sums of the epoch in which the checkpoint was written.
ScoreSums SumsAtCheckpoint(const CheckpointInfo& info) {
  if (info.sums.empty()) return {};
  constexpr double kMost = 0x1p53;  // doubles represent integers exactly up to here
  const auto count = [&](const char* name) {
    const double value = info.sums.at(name);
    return value > 0 ? static_cast<uint64_t>(std::min(value, kMost)) : 0;
  };
  return {info.sums.at("loss"), count("correct"), count("samples")};
}

size_t StepsPerDispatch(const TrainerOptions& options) {
  return static_cast<size_t>(options.steps_per_dispatch);
}

// `step`: number of steps made before.
UpdateStep UpdateAt(uint64_t step, double rate) {
  return {.rate = rate, .number = static_cast<int64_t>(step) + 1};
}

}  // namespace

void Trainer::State::RunTower(size_t index) noexcept {
  try {
    CheckpointInfo at = checkpoints->begin();
    const uint64_t first = at.step;
    const auto where = [&] {
      return NameOfTower(index) + (at.step > first ? format(", after step {}", at.step - 1) : "");
    };
    WithMemoryErrors(where, options.batch_size, [&] { TrainAndEvaluate(index, at); });
  } catch (const std::exception& error) {
    Fail(index, error.what());
  }
  towers[index]->strategy().End();
}

void Trainer::State::TrainAndEvaluate(size_t index, CheckpointInfo& at) {
  Build(index);
  Collective& all = *control[index];
  VariableStrategy& strategy = towers[index]->strategy();
  TowerInput input(*feeder, index, options.input, strategy.StepsAtOnce());
  RunAudit audit(at, index);
  TowerEpoch epoch;
  if (all.rank() == 0) epoch.train = SumsAtCheckpoint(at);
  for (; at.epoch < options.epochs && static_cast<int64_t>(at.step) < last_step; epoch = {}) {
    EpochReport now{.epoch = at.epoch};
    const ExchangeAccount before = strategy.account();
    const double waited = input.waited();
    auto since = Clock::now();
    const bool over = TrainEpoch(index, at, input, epoch, audit);
    epoch.input_waited = input.waited() - waited;
    Settle(index);
    all.Barrier();
    now.steps = static_cast<int64_t>(at.step);
    now.train_seconds = SecondsSince(since);
    now.transfers = towers[index]->TakeTransfers();  // only a single tower has transfers
    at.epoch += over ? 1 : 0;  // a run that resumes here continues in the next epoch
    if (checkpoints->written()) Save(index, at, over ? ScoreSums{} : epoch.train, audit);
    since = Clock::now();
    if (eval_feeder) epoch.evaluation = EvaluateAll(index);
    now.evaluation_seconds = SecondsSince(since);
    towers[index]->TakeTransfers();

    const ExchangeAccount& account = strategy.account();
    epoch.exchange = {account.calls - before.calls, account.bytes - before.bytes,
                      account.waited - before.waited};
    AddUp(all, epoch, now);
    const auto of_steps = StepLosses(all, epoch.steps);
    const std::string audited = options.input == InputKind::kReal && options.audits
                                    ? audit.AcrossTowers(all)
                                    : std::string();
    if (index > 0) continue;
    losses.insert(losses.end(), of_steps.begin(), of_steps.end());
    if (all.rank() > 0) continue;
    now.audit = CheckRunAudit(audited, *feeder);
    report(now);
  }
  input.Release();
  if (!options.timing.inputs.empty()) TimeInputs(index, at.step);
}

bool Trainer::State::TrainEpoch(size_t index, CheckpointInfo& at, TowerInput& input,
                                TowerEpoch& epoch, RunAudit& audit) {
  const StepEvents events(towers[index]->devices_tell() ? Event::kNoDevice : index);
  bool past_end = !checkpoints->skip_end() || at.step > checkpoints->begin().step;
  Dispatch dispatch(*towers[index], index, StepsPerDispatch(options),
                    [&](const StepResult& result) {
                      CheckStep(index, result);
                      epoch.steps.push_back(result.sums);
                      Add(result.sums, epoch.train);
                    });
  while (static_cast<int64_t>(at.step) < last_step) {
    const int64_t begin = EventLog::Now();
    DeviceBatch* batch = input.Next();
    if (!batch && !past_end) {
      past_end = true;
      continue;
    }
    if (!batch) {
      dispatch.Finish();
      return true;
    }
    past_end = true;
    dispatch.Step(*batch, UpdateAt(at.step, rate.At(static_cast<int64_t>(at.step) + steps_behind)));
    events.Step(begin, at.step);
    ++at.step;
    at.loader_token = batch->token();
    audit.Took(*batch);
    if (!checkpoints->IsDue(at.step)) continue;
    dispatch.Finish();
    Settle(index);
    Save(index, at, epoch.train, audit);
  }
  dispatch.Finish();
  return options.input != InputKind::kReal || !HasStepsLeft(at.loader_token);
}

// An asynchronous server's values are the same for all once all have sent their gradients.
void Trainer::State::Settle(size_t index) {
  if (options.async) control[index]->Barrier();
  towers[index]->strategy().Settle();
}

bool Trainer::State::HasStepsLeft(const std::string& token) const {
  const uint64_t taken = ParseToken(token).position, all = feeder->samples().samples();
  return all - std::min(taken, all) >= options.batch_size * world->towers();
}

void Trainer::State::TimeInputs(size_t index, uint64_t step) {
  VariableStrategy& strategy = towers[index]->strategy();
  Dispatch dispatch(*towers[index], index, StepsPerDispatch(options),
                    [&](const StepResult& result) { CheckStep(index, result); });
  const TimedDevice device{
      .feeder = *feeder,
      .index = index,
      .control = *control[index],
      .held = strategy.StepsAtOnce(),
      .step = [&](DeviceBatch& batch) { dispatch.Step(batch, UpdateAt(step++, 0)); },
      .settle =
          [&] {
            dispatch.Finish();
            strategy.Settle();
          },
      .account = [&] { return strategy.account(); },
      .transfers = [&] { return towers[index]->TakeTransfers(); }};
  auto timed = TimeSteps(device, options.timing);
  if (index == 0) timings = std::move(timed);
}

void Trainer::State::Save(size_t index, CheckpointInfo at, const ScoreSums& train,
                          const RunAudit& audit) {
  at.loader_audit = audit.AcrossTowers(*control[index]);
  at.schedule_epochs = ScheduleEpochs(options);
  at.epoch_steps = feeder->steps_per_epoch();
  const ScoreSums sums = AddUp(*control[index], train);
  if (control[index]->rank() == 0) checkpoints->Save(at, sums, *towers[index]);
  control[index]->Barrier();
}

// With the first device's statistics.
ScoreSums Trainer::State::EvaluateAll(size_t index) {
  Collective& all = *control[index];
  std::vector<float> statistics = towers[index]->Statistics();
  all.Broadcast(std::as_writable_bytes(std::span(statistics)), 0);
  if (all.rank() > 0) towers[index]->SetStatistics(statistics);
  ScoreSums total;
  while (auto batch = eval_feeder->Next(index)) {
    all.Check();  // no other call may follow for a long time
    const LossSums sums = towers[index]->Evaluate(*batch);
    CheckLabels(options, sums, "of the evaluation", batch->token());
    Add(sums, total);
  }
  return total;
}

void Trainer::State::CheckStep(size_t index, const StepResult& result) {
  if (std::isfinite(result.sums.loss) && result.sums.bad_labels == 0) return;
  towers[index]->strategy().Check();  // an aborted sum leaves undefined values
  CheckLabels(options, result.sums, format("of step {}", result.step), result.token);
  const std::string layer = towers[index]->FirstBadLayer();
  throw Error(
      ErrorKind::kInvalidArgument,
      format("the loss of step {} is not a number; the first layer with such numbers{} is {}",
             result.step, result.later ? format(", {} steps later,", result.later) : "",
             layer.empty() ? "the loss itself" : layer),
      {}, format("lower the learning rate; the batch's token is {}", result.token));
}

}  // namespace recpack::train
