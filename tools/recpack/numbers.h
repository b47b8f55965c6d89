// Checks whole numbers on the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

namespace recpack::tool {

// A larger number is a typing error, and would fail only after work has started.
inline constexpr uint64_t kMostThreads = 1024;

// For CLI::Option::check(): accepts a WholeNumber() from `least` to `most`.
CLI::Validator WholeNumberIn(uint64_t least, uint64_t most = INT64_MAX);

// For --threads; 0 means all.
inline CLI::Validator ThreadCount() { return WholeNumberIn(0, kMostThreads); }

}  // namespace recpack::tool
