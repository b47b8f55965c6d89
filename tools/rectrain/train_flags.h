// The flags that say what is trained, which commands share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "src/train/collectives/collective.h"
#include "src/train/run/trainer.h"
#include "src/train/setup/choices.h"

namespace recpack::tool {

// An option with the names of `choices`, the one that is given applied to `options`.
void AddChoice(CLI::App& command, const std::string& name, train::TrainerOptions& options,
               const train::TrainerChoices& choices, const std::string& text);

// The same with a list; `chosen` has each in the order that was given, and what it has before is
// the default. Naming one twice is an error of usage.
void AddChoices(CLI::App& command, const std::string& name, train::TrainerChoices& chosen,
                const train::TrainerChoices& choices, const std::string& text);

// DATA, --batch-size, --seed, --loader-threads, --bn; --model and the sizes of each model.
// FinishTrainingFlags() is to be called once they were read. `processes`: how they wait for each
// other.
void AddTrainingFlags(CLI::App& command, train::TrainerOptions& options);
void FinishTrainingFlags(train::TrainerOptions& options,
                         const train::CollectiveOptions& processes = {});

}  // namespace recpack::tool
