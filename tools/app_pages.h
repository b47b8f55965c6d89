// Pages about a program, made from its commands and options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace recpack::tool {

// Returns the commands that --help lists.
std::vector<const CLI::App*> VisibleCommands(const CLI::App& app);

// Returns the program's manual page, in the macros of man(7).
std::string ManualPage(const CLI::App& app);

// Returns the program's reference page in Markdown.
std::string ReferencePage(const CLI::App& app);

// Adds the hidden command `page`, which prints either page.
void AddPage(CLI::App& app, int& exit_code);

}  // namespace recpack::tool
