// Reads the command line and environment of a process from /proc.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace recpack::probe {

// Returns the arguments, or nullopt if the process has ended or is hidden.
std::optional<std::vector<std::string>> ReadCommandLine(int process,
                                                        const std::string& proc = "/proc");

// Returns entries "NAME=value", or nullopt if the process has ended or belongs to another user.
std::optional<std::vector<std::string>> ReadEnvironment(int process,
                                                        const std::string& proc = "/proc");

// Returns a pointer into `environment` to the variable's value, or nullptr if it is not set.
const char* FindVariable(std::span<const std::string> environment, std::string_view name);

}  // namespace recpack::probe
