// Sums of an epoch's results over all towers.
#pragma once

#include <cstdint>
#include <vector>

#include "src/train/collectives/collective.h"
#include "src/train/run/trainer.h"

namespace recpack::train {

// LossSums of many steps, in types that stay exact: an f32 counter stops at 2^24 samples.
struct ScoreSums {
  double loss = 0;
  uint64_t correct = 0;
  uint64_t samples = 0;
};

// One tower's share of an epoch.
struct TowerEpoch {
  std::vector<LossSums> steps;
  ScoreSums train;  // includes steps that an earlier run made in this epoch
  ScoreSums evaluation;
  double input_waited = 0;  // seconds
  ExchangeAccount exchange;
};

void Add(const LossSums& sums, ScoreSums& to);

// Sum over all towers. Collective; all towers get the same result.
uint64_t SumOverTowers(Collective& towers, uint64_t value);
ScoreSums AddUp(Collective& towers, const ScoreSums& sums);

// Mean loss of each step over all towers. Collective, after equally many steps; all towers get the
// same result.
std::vector<double> StepLosses(Collective& towers, const std::vector<LossSums>& steps);

// Fills in the values that cover all towers. Collective; all towers get the same result.
void AddUp(Collective& towers, const TowerEpoch& epoch, EpochReport& report);

}  // namespace recpack::train
