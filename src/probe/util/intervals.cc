#include "src/probe/util/intervals.h"

#include <algorithm>
#include <utility>

namespace recpack::probe {

Intervals Union(std::vector<Interval> pieces) {
  std::erase_if(pieces, [](const Interval& piece) { return piece.end <= piece.begin; });
  std::sort(pieces.begin(), pieces.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  Intervals merged;
  for (const Interval& piece : pieces) {
    if (!merged.empty() && piece.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, piece.end);
    } else {
      merged.push_back(piece);
    }
  }
  return merged;
}

Intervals Intersection(const Intervals& a, const Intervals& b) {
  Intervals common;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Interval both = {std::max(a[i].begin, b[j].begin), std::min(a[i].end, b[j].end)};
    if (both.length() > 0) common.push_back(both);
    if (a[i].end < b[j].end) {
      ++i;
    } else {
      ++j;
    }
  }
  return common;
}

Intervals Difference(const Intervals& a, const Intervals& b) {
  if (a.empty()) return {};
  return Intersection(a, Gaps(b, {a.front().begin, a.back().end}));
}

Intervals Gaps(const Intervals& intervals, const Interval& whole) {
  Intervals gaps;
  int64_t at = whole.begin;
  for (const Interval& interval : intervals) {
    if (interval.end <= at) continue;
    if (interval.begin >= whole.end) break;
    if (interval.begin > at) gaps.push_back({at, interval.begin});
    at = interval.end;
  }
  if (at < whole.end) gaps.push_back({at, whole.end});
  return gaps;
}

int64_t Length(const Intervals& intervals) {
  int64_t sum = 0;
  for (const Interval& interval : intervals) sum += interval.length();
  return sum;
}

}  // namespace recpack::probe
