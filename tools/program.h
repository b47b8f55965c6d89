// Runs a program with commands: parses arguments, prints errors, returns exit codes.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace recpack::tool {

// Exit codes of all programs: success, finding, usage error or failure.
inline constexpr int kDone = 0;
inline constexpr int kFinding = 1;
inline constexpr int kFailure = 2;

// Adds a command to the program. When the command runs, it sets the exit code.
using AddCommand = void (*)(CLI::App& app, int& exit_code);

// Option checks for numbers above 0, and for numbers not below 0. CLI11's own messages would say
// "not in range 0 to 1797693...".
CLI::Validator Positive();
CLI::Validator NotNegative();

// Called with the reason of a failure after it was printed to stderr.
using OnFailure = std::function<void(const std::string& reason)>;

// Runs the requested command and prints errors to stderr. Returns the exit code. Every program also
// has the commands `completion` and, hidden, `page`.
int RunProgram(const char* name, const char* about, const std::vector<AddCommand>& commands,
               int argc, char** argv, const OnFailure& on_failure = {});

}  // namespace recpack::tool
