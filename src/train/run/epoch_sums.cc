#include "src/train/run/epoch_sums.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <type_traits>

namespace recpack::train {
namespace {

// Gathers each tower's value, in order. Collective.
template <typename T>
std::vector<T> AcrossTowers(Collective& towers, const T& own) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all(static_cast<size_t>(towers.size()));
  towers.host().AllGather(std::as_bytes(std::span(&own, 1)),
                          std::as_writable_bytes(std::span(all)));
  return all;
}

Score ToScore(const ScoreSums& sums) {
  const auto samples = static_cast<double>(std::max<uint64_t>(1, sums.samples));
  return {sums.loss / samples, static_cast<double>(sums.correct) / samples, sums.samples};
}

}  // namespace

uint64_t SumOverTowers(Collective& towers, uint64_t value) {
  const auto values = GatherValues(towers, value);
  return std::accumulate(values.begin(), values.end(), uint64_t{0});
}

void Add(const LossSums& sums, ScoreSums& to) {
  to.loss += static_cast<double>(sums.loss);
  to.correct += static_cast<uint64_t>(sums.correct);
  to.samples += static_cast<uint64_t>(sums.samples);
}

ScoreSums AddUp(Collective& towers, const ScoreSums& sums) {
  ScoreSums sum;
  for (const ScoreSums& one : AcrossTowers(towers, sums)) {
    sum.loss += one.loss;
    sum.correct += one.correct;
    sum.samples += one.samples;
  }
  return sum;
}

std::vector<double> StepLosses(Collective& towers, const std::vector<LossSums>& steps) {
  std::vector<float> values;
  for (const LossSums& sums : steps) values.insert(values.end(), {sums.loss, sums.samples});
  towers.AllReduce(values);
  std::vector<double> losses;
  for (size_t i = 0; i < values.size(); i += 2) {
    losses.push_back(static_cast<double>(values[i]) / static_cast<double>(values[i + 1]));
  }
  return losses;
}

void AddUp(Collective& towers, const TowerEpoch& epoch, EpochReport& report) {
  report.train = ToScore(AddUp(towers, epoch.train));
  report.evaluation = ToScore(AddUp(towers, epoch.evaluation));
  const auto mean = [&](double own) {
    const std::vector<double> all = AcrossTowers(towers, own);
    return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
  };
  report.input_wait_seconds = mean(epoch.input_waited);
  report.exchange_wait_seconds = mean(epoch.exchange.waited);
  report.exchange_calls = SumOverTowers(towers, epoch.exchange.calls);
  report.exchange_bytes = SumOverTowers(towers, epoch.exchange.bytes);
}

}  // namespace recpack::train
