// Sets of moments.
#pragma once

#include <cstdint>
#include <vector>

namespace recpack::probe {

struct Interval {
  int64_t begin = 0;
  int64_t end = 0;  // not in it

  int64_t length() const { return end > begin ? end - begin : 0; }
  bool operator==(const Interval&) const = default;
};

// In order, apart from each other, none empty.
using Intervals = std::vector<Interval>;

// All moments that are in any of them, in whatever order they come.
Intervals Union(std::vector<Interval> pieces);
Intervals Intersection(const Intervals& a, const Intervals& b);
// What is in `a` alone.
Intervals Difference(const Intervals& a, const Intervals& b);
// What is in `whole` alone.
Intervals Gaps(const Intervals& intervals, const Interval& whole);

int64_t Length(const Intervals& intervals);

}  // namespace recpack::probe
