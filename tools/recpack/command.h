// The commands of recpack: each adds itself to the program and, when chosen, sets the exit code.
#pragma once

#include <CLI/CLI.hpp>

namespace recpack::tool {

// Exit codes of every program: done, a finding, usage or failure.
inline constexpr int kDone = 0;
inline constexpr int kFinding = 1;
inline constexpr int kFailure = 2;

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
void AddStandIn(CLI::App& app, int& exit_code);
void AddCompletion(CLI::App& app, int& exit_code);

}  // namespace recpack::tool
