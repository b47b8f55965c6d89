// What the programs share: commands, messages, exit codes.
#pragma once

#include <CLI/CLI.hpp>
#include <vector>

namespace recpack::tool {

// Exit codes of every program: done, a finding, usage or failure.
inline constexpr int kDone = 0;
inline constexpr int kFinding = 1;
inline constexpr int kFailure = 2;

// Adds a command to the program, which sets the exit code when it was chosen and has run.
using AddCommand = void (*)(CLI::App& app, int& exit_code);

// Runs the command that is asked for, and says on stderr what went wrong. Returns the exit code.
int RunProgram(const char* name, const char* about, const std::vector<AddCommand>& commands,
               int argc, char** argv);

}  // namespace recpack::tool
