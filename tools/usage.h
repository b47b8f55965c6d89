// Errors of usage: what is wrong with the words of a command line, and what to write instead.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace recpack::tool {

// Returns the message for a command line that does not fit the program: CLI11's own, or a clearer
// one for options that are given too often, lack their value or do not exist.
std::string UsageMessage(const CLI::App& app, const CLI::ParseError& error);

// Rewrites `program help [COMMAND]` to `program [COMMAND] --help`.
std::vector<std::string> WithoutHelpCommand(std::vector<std::string> words);

}  // namespace recpack::tool
