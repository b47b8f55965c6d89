// What is told of an epoch.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "src/train/run/trainer.h"

namespace recpack::tool {

// `accuracy`: the model tells classes apart.
nlohmann::json EpochJson(const train::EpochReport& report, bool accuracy);
// A line; `trained`: not by simulated devices.
std::string EpochText(const train::EpochReport& report, bool trained, bool accuracy);

}  // namespace recpack::tool
