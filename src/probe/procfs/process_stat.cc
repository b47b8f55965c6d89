#include "src/probe/procfs/process_stat.h"

#include <array>
#include <map>
#include <utility>

#include "src/base/format.h"
#include "src/probe/procfs/scanner.h"
#include "src/probe/util/kept_file.h"
#include "src/probe/util/numbered_entries.h"

namespace recpack::probe {

std::optional<ProcessStat> ParseProcessStat(std::string_view text) noexcept {
  const size_t open = text.find('(');
  const size_t close = text.rfind(')');  // the name may contain parentheses
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return std::nullopt;
  }
  ProcessStat stat;
  stat.name = text.substr(open + 1, close - open - 1);
  Scanner scanner(text.substr(close + 1));
  const std::string_view state = scanner.Word();
  if (state.size() != 1) return std::nullopt;
  stat.state = state[0];

  constexpr int kFirst = 4, kStart = 22, kProcessor = 39, kBlockIo = 42;  // numbers in proc(5)
  std::array<uint64_t, kBlockIo + 1> fields = {};
  int field = kFirst;
  for (; field <= kBlockIo && !scanner.done(); ++field) {
    fields[static_cast<size_t>(field)] = scanner.Number().value_or(0);  // negative ones: unused
  }
  if (field <= kStart) return std::nullopt;
  stat.parent = static_cast<int>(fields[4]);
  stat.group = static_cast<int>(fields[5]);
  stat.session = static_cast<int>(fields[6]);
  stat.major_faults = fields[12];
  stat.children_major_faults = fields[13];
  stat.user = fields[14];
  stat.system = fields[15];
  stat.children_user = fields[16];
  stat.children_system = fields[17];
  stat.threads = static_cast<int>(fields[20]);
  stat.start = fields[22];
  stat.resident_pages = fields[24];
  if (field > kProcessor) stat.processor = static_cast<int>(fields[39]);
  if (field > kBlockIo) stat.block_io_ticks = fields[42];
  return stat;
}

std::vector<int> Descendants(const std::string& proc, int process) {
  KeptFiles files;
  std::vector<int> processes;
  ListNumberedEntries(proc, files.text, processes);
  std::multimap<int, std::pair<int, bool>> children;  // by parent: process, not a zombie
  for (const int child : processes) {
    KeptFile file(&files, format("{}/{}/stat", proc, child), KeptFile::Size::kOneRead);
    const auto text = file.Read();
    const auto stat = text ? ParseProcessStat(*text) : std::nullopt;
    if (stat) children.emplace(stat->parent, std::pair(child, stat->state != 'Z'));
  }
  std::vector<int> found;
  std::vector<int> parents = {process};
  while (!parents.empty()) {
    const int parent = parents.back();
    parents.pop_back();
    const auto [begin, end] = children.equal_range(parent);
    for (auto child = begin; child != end; ++child) {
      parents.push_back(child->second.first);
      if (child->second.second) found.push_back(child->second.first);
    }
    children.erase(begin, end);  // a listing is not atomic: it may contain cycles
  }
  return found;
}

}  // namespace recpack::probe
