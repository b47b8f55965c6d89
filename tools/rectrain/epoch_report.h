// Prints the results of an epoch.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "src/train/run/trainer.h"

namespace recpack::tool {

// `accuracy`: the model is a classifier.
nlohmann::json EpochJson(const train::EpochReport& report, bool accuracy);
// One line; `trained`: false for simulated devices.
std::string EpochText(const train::EpochReport& report, bool trained, bool accuracy);

}  // namespace recpack::tool
