#include "src/pack/check/surplus_records.h"

#include <algorithm>
#include <map>

namespace recpack::pack {
namespace {

constexpr size_t kNone = SIZE_MAX;
// Any of the records that the index has more often may be left out: to place them would be
// quadratic.
constexpr size_t kMostPlaces = 8;

using Ordinals = std::map<RecordMark, std::vector<size_t>>;  // rising, by record

Ordinals OrdinalsByRecord(const ShardEntries& known) {
  Ordinals ordinals;
  for (size_t i = 0; i < known.lengths.size(); ++i) {
    ordinals[{known.lengths[i], known.crcs[i]}].push_back(i);
  }
  return ordinals;
}

// Tells, for each found record, whether it belongs to a longest subsequence of the index's order.
std::vector<bool> InOrder(std::span<const RecordMark> found, const Ordinals& ordinals) {
  struct Link {
    size_t ordinal, number, before;
  };
  std::vector<Link> links;
  std::vector<size_t> tails;  // link that ends the best subsequence of each length
  const auto ordinal_of = [&](size_t tail) { return links[tail].ordinal; };
  for (size_t number = 0; number < found.size(); ++number) {
    const auto known = ordinals.find(found[number]);
    if (known == ordinals.end() || known->second.size() > kMostPlaces) continue;
    // From the last to the first, so that a record is not followed by itself.
    for (size_t i = known->second.size(); i-- > 0;) {
      const size_t ordinal = known->second[i];
      const auto tail = std::ranges::lower_bound(tails, ordinal, {}, ordinal_of);
      links.push_back({ordinal, number, tail == tails.begin() ? kNone : *std::prev(tail)});
      if (tail == tails.end()) {
        tails.push_back(links.size() - 1);
      } else {
        *tail = links.size() - 1;
      }
    }
  }
  std::vector<bool> in_order(found.size());
  for (size_t at = tails.empty() ? kNone : tails.back(); at != kNone; at = links[at].before) {
    in_order[links[at].number] = true;
  }
  return in_order;
}

}  // namespace

std::vector<size_t> FindSurplus(std::span<const RecordMark> found, const ShardEntries& known) {
  if (known.crcs.empty()) return {};
  const Ordinals ordinals = OrdinalsByRecord(known);
  std::map<RecordMark, size_t> surplus;
  for (const RecordMark& mark : found) ++surplus[mark];
  bool any = false;
  for (auto& [mark, count] : surplus) {
    const auto in_index = ordinals.find(mark);
    count -= in_index == ordinals.end() ? count : std::min(count, in_index->second.size());
    any |= count > 0;
  }
  if (!any) return {};

  std::vector<size_t> left_out;
  const std::vector<bool> in_order = InOrder(found, ordinals);
  for (const bool kept_last : {false, true}) {
    for (size_t number = 0; number < found.size(); ++number) {
      size_t& count = surplus[found[number]];
      if (count == 0 || in_order[number] != kept_last) continue;
      left_out.push_back(number);
      --count;
    }
  }
  std::ranges::sort(left_out);
  return left_out;
}

}  // namespace recpack::pack
