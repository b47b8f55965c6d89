#include "src/probe/procfs/descendants.h"

#include <map>
#include <utility>

#include "src/base/format.h"
#include "src/probe/procfs/process_stat.h"
#include "src/probe/util/kept_file.h"
#include "src/probe/util/numbered_entries.h"

namespace recpack::probe {

std::vector<int> Descendants(const std::string& proc, int of) {
  KeptFiles files;
  std::vector<int> processes;
  ListNumberedEntries(proc, files.text, processes);
  std::multimap<int, std::pair<int, bool>> children;  // by parent; whether it runs
  for (const int process : processes) {
    KeptFile file(&files, format("{}/{}/stat", proc, process), KeptFile::Size::kOneRead);
    const auto text = file.Read();
    const auto stat = text ? ParseProcessStat(*text) : std::nullopt;
    if (stat) children.emplace(stat->parent, std::pair(process, stat->state != 'Z'));
  }
  std::vector<int> found;
  std::vector<int> parents = {of};
  while (!parents.empty()) {
    const int parent = parents.back();
    parents.pop_back();
    const auto [begin, end] = children.equal_range(parent);
    for (auto child = begin; child != end; ++child) {
      parents.push_back(child->second.first);
      if (child->second.second) found.push_back(child->second.first);
    }
    children.erase(begin, end);  // no circle of a listing that is not of one moment
  }
  return found;
}

}  // namespace recpack::probe
