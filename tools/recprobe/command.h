// Functions that add the subcommands of recprobe.
#pragma once

#include "tools/program.h"

namespace recpack::tool {

void AddAttach(CLI::App& app, int& exit_code);
void AddCompare(CLI::App& app, int& exit_code);
void AddDoctor(CLI::App& app, int& exit_code);
void AddGain(CLI::App& app, int& exit_code);
void AddLog(CLI::App& app, int& exit_code);
void AddMerge(CLI::App& app, int& exit_code);
void AddRead(CLI::App& app, int& exit_code);
void AddRun(CLI::App& app, int& exit_code);
void AddShow(CLI::App& app, int& exit_code);
void AddTop(CLI::App& app, int& exit_code);

// Runs the program recprobe. Returns its exit code.
int RunRecprobe(int argc, char** argv);

}  // namespace recpack::tool
