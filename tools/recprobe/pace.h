// Keeps work that recurs beside a watch from using more than a small part of a core.
#pragma once

#include <algorithm>
#include <chrono>

namespace recpack::tool {

// Returns when the work that began at `begin`, and ends now, is due again: `usual` after it began,
// or later if it would use more than 0.2 % of a core.
inline std::chrono::steady_clock::time_point NextOfWork(std::chrono::steady_clock::time_point begin,
                                                        std::chrono::steady_clock::duration usual) {
  constexpr double kMostCost = 0.002;  // of a core
  const std::chrono::duration<double> cost = std::chrono::steady_clock::now() - begin;
  return begin + std::max(usual, std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                     cost / kMostCost));
}

}  // namespace recpack::tool
