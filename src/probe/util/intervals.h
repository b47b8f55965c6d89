// Sets of points in time, as sorted disjoint intervals.
#pragma once

#include <cstdint>
#include <vector>

namespace recpack::probe {

struct Interval {
  int64_t begin = 0;
  int64_t end = 0;  // exclusive

  int64_t length() const { return end > begin ? end - begin : 0; }
  bool operator==(const Interval&) const = default;
};

// Sorted, disjoint, not adjacent; none is empty.
using Intervals = std::vector<Interval>;

// `pieces` may overlap and be in any order.
Intervals Union(std::vector<Interval> pieces);
Intervals Intersection(const Intervals& a, const Intervals& b);
// Returns `a` without `b`.
Intervals Difference(const Intervals& a, const Intervals& b);
// Returns `whole` without `intervals`.
Intervals Gaps(const Intervals& intervals, const Interval& whole);

int64_t Length(const Intervals& intervals);

}  // namespace recpack::probe
