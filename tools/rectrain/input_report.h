// The comparison of inputs at the end of a training: its flags, and how it is printed.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/train/run/trainer.h"
#include "src/train/setup/choices.h"

namespace recpack::tool {

// --input, --timed-steps, --timed-rounds. FinishInputFlags() is to be called once they were read.
void AddInputFlags(CLI::App& command, train::TrainerChoices& inputs,
                   train::TrainerOptions& options);
// The first of `inputs` is trained on; several are timed.
void FinishInputFlags(const train::TrainerChoices& inputs, train::TrainerOptions& options);

// Of a whole training, where one kind alone was asked for: the speed, and nothing else.
train::StepTiming SpeedOf(const std::vector<train::EpochReport>& epochs, train::InputKind input);

std::string InputName(train::InputKind input);

// "real 1200 samples/s, cached 1210 samples/s; real/cached 0.992": the first against the others.
std::string InputsText(const std::vector<train::StepTiming>& timings);
// {"inputs": [...], "ratios": {"real/cached": 0.992}}
nlohmann::json InputsJson(const std::vector<train::StepTiming>& timings);

}  // namespace recpack::tool
