#include "src/train/collectives/launch/slurm_tasks.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack::train {
namespace {

constexpr int kMostTasks = 1'000'000;

// The number in `text`; 0 if it is none.
int GroupNumber(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && number <= kMostTasks ? std::max(number, 0) : 0;
}

// Removes "2(x3)," or "1" from the front. Returns the tasks of a node and the nodes, 0 if wrong.
std::pair<int, int> TakeGroup(std::string_view& rest) {
  const std::string_view group = rest.substr(0, rest.find(','));
  rest.remove_prefix(std::min(rest.size(), group.size() + 1));
  const size_t open = group.find("(x");
  const int tasks = GroupNumber(group.substr(0, open));
  if (open == std::string_view::npos) return {tasks, 1};
  if (!group.ends_with(')')) return {};
  return {tasks, GroupNumber(group.substr(open + 2, group.size() - open - 3))};
}

}  // namespace

std::optional<int> SlurmTasks(std::string_view list, int node) {
  int first = 0;
  for (std::string_view rest = list; !rest.empty();) {
    const auto [tasks, nodes] = TakeGroup(rest);
    if (tasks == 0 || nodes == 0) {
      throw Error(ErrorKind::kInvalidArgument,
                  format("SLURM_STEP_TASKS_PER_NODE={}: expected a list such as 2(x3),1", list));
    }
    first += nodes;
    if (node < first) return tasks;
  }
  return std::nullopt;
}

}  // namespace recpack::train
