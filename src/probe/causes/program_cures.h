// Cures in the words of the library that makes a program's batches, with its present values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/probe/evidence/evidence.h"
#include "src/probe/steps/steps.h"

namespace recpack::probe {

// Returns those of the trainer that waits longest; nullptr if its process reports none. `trainers`
// must not be empty.
const InputSettings* SettingsOfLongest(const Evidence& evidence,
                                       const std::vector<TrainerSteps>& trainers);

// "num_workers=2 -> 6 in DataLoader(...)"
std::string WorkersCure(const InputSettings& settings, uint32_t enough);
std::string PrefetchCure(const InputSettings& settings);
std::string PersistentCure(const InputSettings& settings);
// For a program that makes its DataLoader anew for each epoch.
std::string MakeOnceCure(const InputSettings& settings);
std::string PinningCure(const InputSettings& settings);

// "train.py:12 (DataLoader)", the place of a setting; empty if the program does not make it itself.
std::string PlaceOfSettings(const InputSettings& settings);

}  // namespace recpack::probe
