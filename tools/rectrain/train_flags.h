// Flags for the model and data, shared by train and sweep.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "src/train/collectives/collective.h"
#include "src/train/run/trainer.h"
#include "src/train/setup/choices.h"

namespace recpack::tool {

// Adds an option that takes the name of a choice and applies it to `options`.
void AddChoice(CLI::App& command, const std::string& name, train::TrainerOptions& options,
               const train::TrainerChoices& choices, const std::string& text);

// The same for a list; `chosen` receives the choices in the given order, and its initial content is
// the default. A duplicate name is a usage error.
void AddChoices(CLI::App& command, const std::string& name, train::TrainerChoices& chosen,
                const train::TrainerChoices& choices, const std::string& text);

// Adds DATA, --batch-size, --seed, --loader-threads, --bn, --model and the sizes of each model.
// Call FinishTrainingFlags() after parsing. `processes`: options of the collectives between
// processes.
void AddTrainingFlags(CLI::App& command, train::TrainerOptions& options);
void FinishTrainingFlags(train::TrainerOptions& options,
                         const train::CollectiveOptions& processes = {});

}  // namespace recpack::tool
