// What the programs share: commands, messages, exit codes.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace recpack::tool {

// Exit codes of every program: done, a finding, usage or failure.
inline constexpr int kDone = 0;
inline constexpr int kFinding = 1;
inline constexpr int kFailure = 2;

// Adds a command to the program, which sets the exit code when it was chosen and has run.
using AddCommand = void (*)(CLI::App& app, int& exit_code);

// Checks of options: a number above 0; one that is not below it. CLI11's own say "not in range 0 to
// 1797693...".
CLI::Validator Positive();
CLI::Validator NotNegative();

// Is told what went wrong, once that was said on stderr.
using OnFailure = std::function<void(const std::string& reason)>;

// Runs the command that is asked for, and says on stderr what went wrong. Returns the exit code.
int RunProgram(const char* name, const char* about, const std::vector<AddCommand>& commands,
               int argc, char** argv, const OnFailure& on_failure = {});

}  // namespace recpack::tool
