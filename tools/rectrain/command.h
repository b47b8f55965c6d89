// The commands of rectrain.
#pragma once

#include "tools/program.h"

namespace recpack::tool {

void AddSweep(CLI::App& app, int& exit_code);
void AddTrain(CLI::App& app, int& exit_code);
void AddEval(CLI::App& app, int& exit_code);

}  // namespace recpack::tool
