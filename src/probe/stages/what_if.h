// Changes of a loader whose effect is predicted.
#pragma once

#include <optional>
#include <vector>

#include "src/probe/stages/stage_costs.h"
#include "src/probe/stages/stage_use.h"

namespace recpack::probe {

struct LoaderVariant {
  std::string text;  // WhatIf::change
  ceiling::LoaderChange change;
  Stage helps = Stage::kRoom;  // the stage that gets cheaper; kRoom: all stages
};

// Lists changes to predict: numbers of threads, caches, smaller pictures, tiles, ranks.
std::vector<LoaderVariant> ListChanges(const LoaderWork& work, const ceiling::LoaderCost& cost,
                                       const Ceilings& ceilings);

}  // namespace recpack::probe
