// Numbers that users write.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

namespace recpack::tool {

// More is a slip, and would fail only once the work has begun.
inline constexpr uint64_t kMostThreads = 1024;

// The whole of `text` as a decimal number; nothing where it has a sign, a fraction, a tail or more
// than 64 bits.
std::optional<uint64_t> WholeNumber(std::string_view text);

// For CLI::Option::check(): a WholeNumber() from `least` to `most`, and an error that says so.
CLI::Validator WholeNumberIn(uint64_t least, uint64_t most = INT64_MAX);

// Of --threads: 0 stands for all.
inline CLI::Validator ThreadCount() { return WholeNumberIn(0, kMostThreads); }

}  // namespace recpack::tool
