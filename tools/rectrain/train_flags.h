// The flags that say what is trained, which commands share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "src/train/setup/choices.h"
#include "src/train/collectives/collective.h"
#include "src/train/run/trainer.h"

namespace recpack::tool {

// An option with the names of `choices`, the one that is given applied to `options`.
void AddChoice(CLI::App& command, const std::string& name, TrainerOptions& options,
               const TrainerChoices& choices, const std::string& text);

// The same with a list; `chosen` has each in the order that was given, and what it has before is
// the default. Naming one twice is an error of usage.
void AddChoices(CLI::App& command, const std::string& name, TrainerChoices& chosen,
                const TrainerChoices& choices, const std::string& text);

// DATA, --batch-size, --seed, --loader-threads, --bn; --model and the sizes of each model.
// FinishTrainingFlags() is to be called once they were read. `processes`: how they wait for each
// other.
void AddTrainingFlags(CLI::App& command, TrainerOptions& options);
void FinishTrainingFlags(TrainerOptions& options, const CollectiveOptions& processes = {});

}  // namespace recpack::tool
