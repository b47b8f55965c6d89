// Parses and checks whole numbers on the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

namespace recpack::tool {

// A larger number is a typing error, and would fail only after work has started.
inline constexpr uint64_t kMostThreads = 1024;

// Parses all of `text` as a decimal number; nullopt if it has a sign, a fraction or a suffix, or
// exceeds 64 bits.
std::optional<uint64_t> WholeNumber(std::string_view text);

// For CLI::Option::check(): accepts a WholeNumber() from `least` to `most`.
CLI::Validator WholeNumberIn(uint64_t least, uint64_t most = INT64_MAX);

// For --threads; 0 means all.
inline CLI::Validator ThreadCount() { return WholeNumberIn(0, kMostThreads); }

}  // namespace recpack::tool
