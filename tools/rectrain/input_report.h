// Comparison of input kinds at the end of a training: its flags and output.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/train/run/trainer.h"
#include "src/train/setup/choices.h"

namespace recpack::tool {

// Adds --input, --timed-steps and --timed-rounds. Call FinishInputFlags() after parsing.
void AddInputFlags(CLI::App& command, train::TrainerChoices& inputs,
                   train::TrainerOptions& options);
// The first of `inputs` is used for training; if there are several, all are timed.
void FinishInputFlags(const train::TrainerChoices& inputs, train::TrainerOptions& options);

// The speed of a whole training with a single kind of input; other members are unset.
train::StepTiming EpochTiming(const std::vector<train::EpochReport>& epochs,
                              train::InputKind input);

std::string InputName(train::InputKind input);

// "real 1200 samples/s, cached 1210 samples/s; real/cached 0.992": the first relative to the
// others.
std::string InputsText(const std::vector<train::StepTiming>& timings);
// {"inputs": [...], "ratios": {"real/cached": 0.992}}
nlohmann::json InputsJson(const std::vector<train::StepTiming>& timings);

// JSON of timed steps, also for sweeps.
template <typename Json>
Json TimingJson(const train::StepTiming& timing) {
  return {{"samples_per_s", timing.samples_per_second},
          {"step_seconds", timing.step_seconds},
          {"input_wait_seconds", timing.input_wait_seconds},
          {"exchange_wait_seconds", timing.exchange_wait_seconds},
          {"exchange_bytes", timing.exchange_bytes},
          {"copies", timing.copies},
          {"copy_bytes", timing.copy_bytes},
          {"copy_seconds", timing.copy_seconds},
          {"epoch_steps", timing.epoch_steps}};
}

}  // namespace recpack::tool
