#include "src/probe/gain/gain.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "src/base/format.h"
#include "src/probe/gain/gain_blocks.h"
#include "src/probe/gain/rounds.h"

namespace recpack::probe {
namespace {

constexpr auto kLive = static_cast<size_t>(LoaderMode::kLive);
constexpr auto kReplay = static_cast<size_t>(LoaderMode::kReplay);
constexpr auto kReplayAndWork = static_cast<size_t>(LoaderMode::kReplayAndWork);
constexpr auto kSynthetic = static_cast<size_t>(LoaderMode::kSynthetic);

// A loader that gives fewer than 1 / kFewPart of the busiest loader's batches does not belong to
// the training.
constexpr uint64_t kFewPart = 4;

using Trainers = std::vector<const GainTrainer*>;

// Rounds that all trainers have finished. Columns: the kinds of the first trainer, then of the
// next.
Rounds WholeRounds(const Trainers& trainers, uint32_t block_steps, GainResult& result) {
  size_t finished = SIZE_MAX, without = 0;
  for (const GainTrainer* trainer : trainers) finished = std::min(finished, trainer->rounds());
  Rounds rounds;
  for (size_t i = 0; !trainers.empty() && i < finished; ++i) {
    std::vector<double> all;
    for (const GainTrainer* trainer : trainers) {
      const auto seconds = trainer->Round(i, block_steps);
      if (seconds) all.insert(all.end(), seconds->begin(), seconds->end());
    }
    const bool whole = all.size() == trainers.size() * GainPlan::kKinds;
    if (whole) rounds.push_back(std::move(all));
    without += whole ? 0 : 1;
  }
  if (without > 0) {
    result.notes.push_back(format(
        "{} rounds do not count because epochs ended in them too often; use a larger data set",
        without));
  }
  return rounds;
}

void FillRates(const Rounds& rounds, const Trainers& trainers, GainResult& result) {
  const auto rate = [&](const std::vector<double>& means, size_t kind) {
    double sum = 0;
    for (size_t i = 0; i < trainers.size(); ++i) {
      sum += trainers[i]->batch_size / means[i * GainPlan::kKinds + kind];
    }
    return sum;
  };
  const auto over = [&](size_t kind, size_t base) {
    return EstimateFigure(rounds,
                          [&](const auto& means) { return rate(means, kind) - rate(means, base); });
  };
  for (size_t kind = 0; kind < GainPlan::kKinds; ++kind) {
    result.rates[kind] =
        EstimateFigure(rounds, [&](const auto& means) { return rate(means, kind); });
  }
  result.gain = over(kReplay, kLive);
  result.ratio = EstimateFigure(
      rounds, [&](const auto& means) { return rate(means, kReplay) / rate(means, kLive); });
  result.starvation = over(kReplayAndWork, kLive);
  result.interference = over(kReplay, kReplayAndWork);
  result.synthetic = over(kSynthetic, kReplay);
}

}  // namespace

struct GainBlocks::State {
  using Key = std::tuple<int, uint32_t, uint16_t, uint32_t>;  // process, loader, device, thread

  const uint32_t block_steps;
  uint64_t batches = 0;
  std::map<Key, GainTrainer> trainers;
};

GainBlocks::GainBlocks(uint32_t block_steps)
    : state_(std::make_unique<State>(State{.block_steps = block_steps})) {}

GainBlocks::~GainBlocks() = default;

uint64_t GainBlocks::batches() const noexcept { return state_->batches; }

void GainBlocks::Add(const std::vector<TimedEvent>& events) {
  for (const TimedEvent& timed : events) {
    if (timed.event.kind != EventKind::kRange) continue;
    const auto mark = GainMark::Parse(timed.name);
    if (!mark) continue;
    // Batches of a device belong to one trainer, whichever thread takes them.
    const uint32_t lane = timed.event.device == Event::kNoDevice ? timed.event.lane : 0;
    state_->trainers[{timed.process, mark->loader, timed.event.device, lane}].Took(
        *mark, timed.event.value, timed.event.begin, state_->block_steps);
    state_->batches += mark->kind != GainMark::kEndOfEpoch ? 1 : 0;
  }
}

GainResult GainBlocks::Result() const {
  const uint32_t block_steps = state_->block_steps;
  GainResult result{.block_steps = block_steps,
                    .measured_steps = block_steps - 1 - LeftOut(block_steps)};
  uint64_t most = 0;
  for (const auto& [key, trainer] : state_->trainers) most = std::max(most, trainer.batches);
  Trainers counted;
  for (const auto& [key, trainer] : state_->trainers) {
    if (trainer.batches >= most / kFewPart) {
      counted.push_back(&trainer);
      continue;
    }
    result.notes.push_back(
        format("loader {} of process {} gave {} batches, another one {}: it is not counted, as it "
               "seems to serve no training",
               std::get<1>(key), std::get<0>(key), trainer.batches, most));
  }
  result.trainers = counted.size();
  const Rounds rounds = WholeRounds(counted, block_steps, result);
  result.rounds = rounds.size();
  if (!rounds.empty()) FillRates(rounds, counted, result);
  return result;
}

}  // namespace recpack::probe
