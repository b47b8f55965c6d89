// Figures with their uncertainty, in JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "src/probe/util/estimate.h"

namespace recpack::probe {

inline nlohmann::ordered_json Of(const Estimate& estimate) {
  return {{"value", estimate.value}, {"low", estimate.low}, {"high", estimate.high}};
}

}  // namespace recpack::probe
