// Converts estimates to JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "src/probe/util/estimate.h"

namespace recpack::probe {

inline nlohmann::ordered_json ToJson(const Estimate& estimate) {
  return {{"value", estimate.value}, {"low", estimate.low}, {"high", estimate.high}};
}

}  // namespace recpack::probe
