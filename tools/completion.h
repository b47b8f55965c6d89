// The command `completion` of every program.
#pragma once

#include "tools/program.h"

namespace recpack::tool {

// Adds the command, which prints a script for bash, zsh or fish.
void AddCompletion(CLI::App& app, int& exit_code);

}  // namespace recpack::tool
