// Visits the parts of intervals that lie within steps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/probe/steps/steps.h"
#include "src/probe/util/intervals.h"

namespace recpack::probe {

// Calls visit(step, span, ns of the span within the step) for all spans that overlap a step. Both
// must be sorted by time.
template <typename Spans, typename Visit>
void VisitWithin(const Spans& spans, std::vector<StepRecord>& steps, const Visit& visit) {
  size_t first = 0;
  for (StepRecord& step : steps) {
    while (first < spans.size() && spans[first].end <= step.begin) ++first;
    for (size_t i = first; i < spans.size() && spans[i].begin < step.end; ++i) {
      visit(step, spans[i],
            std::min(spans[i].end, step.end) - std::max(spans[i].begin, step.begin));
    }
  }
}

// Adds the length of `intervals` within each step to the step's member `sum`.
inline void AddWithin(const Intervals& intervals, std::vector<StepRecord>& steps,
                      int64_t StepRecord::*sum) {
  VisitWithin(intervals, steps,
              [sum](StepRecord& step, const Interval&, int64_t within) { step.*sum += within; });
}

}  // namespace recpack::probe
