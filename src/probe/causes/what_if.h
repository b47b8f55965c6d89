// What a loader would give under other circumstances.
#pragma once

#include <optional>
#include <vector>

#include "src/probe/causes/stage_costs.h"
#include "src/probe/causes/stage_use.h"

namespace recpack::probe {

struct LoaderVariant {
  std::string text;  // of WhatIf
  LoaderChange change;
  Stage helps = Stage::kRoom;  // the stage that it relieves; kRoom: all of them
};

// What is worth a look at: numbers of threads, caches, smaller pictures, tiles, ranks.
std::vector<LoaderVariant> ChangesOf(const LoaderWork& work, const LoaderCost& cost,
                                     const Ceilings& ceilings);

}  // namespace recpack::probe
