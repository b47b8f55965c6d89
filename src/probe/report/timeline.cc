#include "src/probe/report/timeline.h"

#include <algorithm>

#include "src/probe/util/units.h"

namespace recpack::probe {

// `guess`: index to try first, as values mostly come in the same order.
TimelineRecorder::Series* TimelineRecorder::Find(const TimelineValue& value, size_t guess) {
  const auto same = [&](const Series& series) {
    return series.what.of == value.of && series.what.name == value.name &&
           series.what.group == value.group;
  };
  if (guess < series_.size() && same(series_[guess])) return &series_[guess];
  const auto found = std::find_if(series_.begin(), series_.end(), same);
  if (found != series_.end()) return &*found;
  if (series_.size() >= most_series_) return nullptr;
  series_.push_back({{value.group, value.of, value.name, value.unit, {}}, {}});
  return &series_.back();
}

// Merges pairs of stretches. Afterwards all stretches have the same number of samples.
void TimelineRecorder::Halve() {
  const size_t half = stretches_.size() / 2;
  for (size_t i = 0; i < half; ++i) {
    const Stretch &first = stretches_[2 * i], &second = stretches_[2 * i + 1];
    stretches_[i] = {first.begin, second.end, first.samples + second.samples};
  }
  stretches_.resize(half);
  for (Series& series : series_) {
    series.cells.resize(2 * half);
    for (size_t i = 0; i < half; ++i) {
      const Cell &first = series.cells[2 * i], &second = series.cells[2 * i + 1];
      series.cells[i] = {first.sum + second.sum, first.seconds + second.seconds};
    }
    series.cells.resize(half);
  }
  samples_each_ *= 2;
}

void TimelineRecorder::Add(int64_t begin, int64_t end, const std::vector<TimelineValue>& values) {
  if (end <= begin) return;
  if (stretches_.empty() || stretches_.back().samples >= samples_each_) {
    if (stretches_.size() >= most_stretches_) Halve();
    stretches_.push_back({begin, end, 0});
  }
  stretches_.back().end = end;
  ++stretches_.back().samples;
  const double seconds = Seconds(end - begin);
  size_t guess = 0;
  for (const TimelineValue& value : values) {
    Series* series = Find(value, guess);
    if (series == nullptr) {
      ++left_out_;
      continue;
    }
    guess = static_cast<size_t>(series - series_.data()) + 1;
    series->cells.resize(stretches_.size());
    series->cells.back().sum += value.value * seconds;
    series->cells.back().seconds += seconds;
  }
}

Timeline TimelineRecorder::Collected() const {
  Timeline timeline;
  for (const Stretch& stretch : stretches_) {
    timeline.begin.push_back(stretch.begin);
    timeline.end.push_back(stretch.end);
  }
  for (const Series& series : series_) {
    TimelineSeries& out = timeline.series.emplace_back(series.what);
    out.values.resize(stretches_.size());
    for (size_t i = 0; i < series.cells.size(); ++i) {
      const Cell& cell = series.cells[i];
      if (cell.seconds > 0) out.values[i] = cell.sum / cell.seconds;
    }
  }
  return timeline;
}

}  // namespace recpack::probe
