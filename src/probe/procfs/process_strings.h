// What /proc tells of how a process was started.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace recpack::probe {

// The words of its command line; nothing where it is gone or hidden.
std::optional<std::vector<std::string>> CommandOf(int process, const std::string& proc = "/proc");

// "NAME=value"; nothing where it is gone or another user's.
std::optional<std::vector<std::string>> EnvironmentOf(int process,
                                                      const std::string& proc = "/proc");

// The value of a variable, in `environment`'s memory; null where there is none.
const char* FindVariable(std::span<const std::string> environment, std::string_view name);

}  // namespace recpack::probe
