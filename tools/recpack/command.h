// The commands of recpack: each adds itself to the program and, when chosen, sets the exit code.
#pragma once

#include "tools/program.h"

namespace recpack::tool {

void AddPack(CLI::App& app, int& exit_code);
void AddLs(CLI::App& app, int& exit_code);
void AddAudit(CLI::App& app, int& exit_code);
void AddBench(CLI::App& app, int& exit_code);
void AddBatches(CLI::App& app, int& exit_code);
void AddCat(CLI::App& app, int& exit_code);
void AddSheet(CLI::App& app, int& exit_code);
void AddVerify(CLI::App& app, int& exit_code);
void AddIndex(CLI::App& app, int& exit_code);
void AddRepair(CLI::App& app, int& exit_code);
void AddCache(CLI::App& app, int& exit_code);
void AddMigrate(CLI::App& app, int& exit_code);
void AddStandIn(CLI::App& app, int& exit_code);

// Runs the program recpack. Returns its exit code.
int RunRecpack(int argc, char** argv);

}  // namespace recpack::tool
