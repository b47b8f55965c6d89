// What the towers of a training add up to.
#pragma once

#include <vector>

#include "recpack/train/collective.h"
#include "recpack/train/trainer.h"

namespace recpack {

// One tower's part of an epoch.
struct TowerEpoch {
  std::vector<LossSums> steps;
  LossSums train;  // with the steps of an epoch that was begun before this run
  LossSums evaluation;
  double input_waited = 0;  // seconds
  ExchangeAccount exchange;
};

void Add(const LossSums& sums, LossSums& to);

// Over all towers. Each calls them, and gets the same.
uint64_t SumOf(Collective& towers, uint64_t value);
LossSums AddUp(Collective& towers, const LossSums& sums);

// Mean loss of each step over all towers. Each calls it, after as many steps, and gets the same.
std::vector<double> StepLosses(Collective& towers, const std::vector<LossSums>& steps);

// Fills in what is of all towers. Each calls it, and gets the same.
void AddUp(Collective& towers, const TowerEpoch& epoch, EpochReport& report);

}  // namespace recpack
