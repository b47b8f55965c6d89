// Lists of processors as the kernel writes them: "0-3,8".
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "src/probe/procfs/scanner.h"

namespace recpack::probe {

// In the order written; what is no list gives what could be read of it.
inline std::vector<int> ParseCoreList(std::string_view text) {
  constexpr uint64_t kMost = 1 << 16;
  std::vector<int> cores;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const size_t dash = part.find('-');
    const auto first = Scanner(part.substr(0, dash)).Number();
    const auto last =
        dash == std::string_view::npos ? first : Scanner(part.substr(dash + 1)).Number();
    if (!first || !last || *last >= kMost) continue;
    for (uint64_t core = *first; core <= *last; ++core) cores.push_back(static_cast<int>(core));
  }
  return cores;
}

}  // namespace recpack::probe
