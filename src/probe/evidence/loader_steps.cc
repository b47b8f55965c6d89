#include "src/probe/evidence/loader_steps.h"

#include <algorithm>
#include <utility>

#include "src/probe/evidence/loader_work.h"

namespace recpack::probe {
namespace {

constexpr uint64_t kMostSteps = 100'000;

void AddBetween(const LoaderSample& first, const LoaderSample& last, TrainerSteps& trainer) {
  const auto batches = static_cast<int64_t>(last.stats.batches - first.stats.batches);
  const int64_t wait = (last.stats.consumer_wait - first.stats.consumer_wait).count();
  const int64_t time = last.time - first.time;
  for (int64_t i = 0; i < batches; ++i) {
    const int64_t begin = first.time + time * i / batches;
    const int64_t end = first.time + time * (i + 1) / batches;
    const int64_t waited = std::min(wait / batches, end - begin);
    trainer.steps.push_back({.number = trainer.steps.size(),
                             .begin = begin,
                             .end = end,
                             .input_wait = waited,
                             .uncovered_wait = waited});
  }
}

}  // namespace

std::vector<TrainerSteps> StepsOfLoaders(const std::vector<LoaderSample>& samples) {
  const auto work = WorkOf(samples);
  if (!work) return {};
  // The account does not say whether who takes the batches fetches them ahead for the training.
  TrainerSteps trainer{
      .process = work->process, .source = TrainerSteps::Source::kLoader, .fetched_ahead = true};
  const LoaderSample* before = nullptr;
  for (const LoaderSample& sample : samples) {
    if (sample.process != work->process || sample.stats.number != work->number) continue;
    // A wait that lasts belongs to the batch that ends it.
    if (before != nullptr && sample.stats.batches == before->stats.batches) continue;
    if (before != nullptr) AddBetween(*before, sample, trainer);
    before = &sample;
    if (trainer.steps.size() > kMostSteps) break;
  }
  if (trainer.steps.empty()) return {};
  return {std::move(trainer)};
}

}  // namespace recpack::probe
