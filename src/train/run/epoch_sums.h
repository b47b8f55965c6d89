// What the towers of a training add up to.
#pragma once

#include <cstdint>
#include <vector>

#include "src/train/collectives/collective.h"
#include "src/train/run/trainer.h"

namespace recpack::train {

// LossSums of many steps: counts of f32 stand still at 2^24 samples.
struct ScoreSums {
  double loss = 0;
  uint64_t correct = 0;
  uint64_t samples = 0;
};

// One tower's part of an epoch.
struct TowerEpoch {
  std::vector<LossSums> steps;
  ScoreSums train;  // with the steps of an epoch that was begun before this run
  ScoreSums evaluation;
  double input_waited = 0;  // seconds
  ExchangeAccount exchange;
};

void Add(const LossSums& sums, ScoreSums& to);

// Over all towers. Each calls them, and gets the same.
uint64_t SumOf(Collective& towers, uint64_t value);
ScoreSums AddUp(Collective& towers, const ScoreSums& sums);

// Mean loss of each step over all towers. Each calls it, after as many steps, and gets the same.
std::vector<double> StepLosses(Collective& towers, const std::vector<LossSums>& steps);

// Fills in what is of all towers. Each calls it, and gets the same.
void AddUp(Collective& towers, const TowerEpoch& epoch, EpochReport& report);

}  // namespace recpack::train
