#include "src/train/epoch_sums.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace recpack {
namespace {

Score ScoreOf(const float* sums) {
  const double samples = std::max(1.0F, sums[2]);
  return {sums[0] / samples, sums[1] / samples, static_cast<uint64_t>(sums[2])};
}

}  // namespace

uint64_t SumOf(Collective& towers, uint64_t value) {
  const auto values = GatherValues(towers, value);
  return std::accumulate(values.begin(), values.end(), uint64_t{0});
}

void Add(const LossSums& sums, LossSums& to) {
  to.loss += sums.loss;
  to.correct += sums.correct;
  to.samples += sums.samples;
}

LossSums AddUp(Collective& towers, const LossSums& sums) {
  std::array<float, 3> values = {sums.loss, sums.correct, sums.samples};
  towers.AllReduce(values);
  return {values[0], values[1], values[2]};
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
  std::array<float, 8> sums = {epoch.train.loss,
                               epoch.train.correct,
                               epoch.train.samples,
                               epoch.evaluation.loss,
                               epoch.evaluation.correct,
                               epoch.evaluation.samples,
                               static_cast<float>(epoch.input_waited),
                               static_cast<float>(epoch.exchange.waited)};
  towers.AllReduce(sums);
  const auto size = static_cast<double>(towers.size());
  report.train = ScoreOf(sums.data());
  report.evaluation = ScoreOf(sums.data() + 3);
  report.input_wait_seconds = sums[6] / size;
  report.exchange_wait_seconds = sums[7] / size;
  report.exchange_calls = SumOf(towers, epoch.exchange.calls);
  report.exchange_bytes = SumOf(towers, epoch.exchange.bytes);
}

}  // namespace recpack
