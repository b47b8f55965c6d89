#include "src/probe/evidence/memory_growth.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

namespace recpack::probe {
namespace {

constexpr size_t kParts = 8;
constexpr size_t kFewestGrowing = 7;  // of the parts
constexpr size_t kFewestSteps = 64, kFewestSamples = 16;
constexpr double kLeastGrowth = 16 << 20, kLeastShare = 0.02;

struct Point {
  int64_t time = 0;
  double bytes = 0;
};

// Up to `end`: a program that ends gives its memory back.
std::vector<Point> MemorySeries(int process, int64_t end,
                                const std::vector<SystemSample>& samples) {
  std::vector<Point> points;
  for (const SystemSample& sample : samples) {
    if (sample.time_ns > end) break;
    for (const ProcessSample& each : sample.processes) {
      if (each.process != process || !each.private_bytes) continue;
      points.push_back({sample.time_ns, static_cast<double>(*each.private_bytes)});
    }
  }
  return points;
}

// Memory at a time between two points, in proportion.
double At(const std::vector<Point>& points, int64_t time) {
  const auto after = std::ranges::lower_bound(points, time, {}, &Point::time);
  if (after == points.begin()) return points.front().bytes;
  if (after == points.end()) return points.back().bytes;
  const Point& before = *(after - 1);
  const double share = static_cast<double>(time - before.time) /
                       static_cast<double>(std::max<int64_t>(1, after->time - before.time));
  return before.bytes + share * (after->bytes - before.bytes);
}

size_t StepsBetween(const TrainerSteps& trainer, int64_t begin, int64_t end) {
  return static_cast<size_t>(std::ranges::count_if(
      trainer.steps, [&](const StepRecord& step) { return step.end > begin && step.end <= end; }));
}

Estimate MeanWithError(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double error = Student975(count - 1) * std::sqrt(squares / (count - 1) / count);
  return {mean, mean - error, mean + error};
}

// Goes back over earlier parts of the same length for as long as memory grew in them about as much.
int64_t FindBegin(const std::vector<Point>& points, int64_t begin, int64_t length, double growth) {
  while (begin - length >= points.front().time &&
         At(points, begin) - At(points, begin - length) > growth / 2) {
    begin -= length;
  }
  return begin;
}

uint64_t Available(const SystemSample& sample) {
  uint64_t available = sample.memory.available_bytes.value_or(0);
  const CgroupSample& group = sample.cgroup;
  if (group.memory_limit && group.memory_used && *group.memory_limit != kNoMemoryLimit) {
    const uint64_t left = *group.memory_limit - std::min(*group.memory_limit, *group.memory_used);
    available = available == 0 ? left : std::min(available, left);
  }
  return available;
}

std::optional<MemoryGrowth> FindGrowth(const TrainerSteps& trainer,
                                       const std::vector<SystemSample>& samples) {
  const int64_t first = trainer.steps.front().begin, last = trainer.steps.back().end;
  const std::vector<Point> points = MemorySeries(trainer.process, last, samples);
  if (points.empty()) return {};
  const int64_t end = points.back().time, half = first + (last - first) / 2;
  const auto seen =
      std::ranges::count_if(points, [&](const Point& point) { return point.time >= half; });
  if (static_cast<size_t>(seen) < kFewestSamples) return {};
  if (StepsBetween(trainer, half, end) < kFewestSteps) return {};

  const int64_t length = (end - half) / static_cast<int64_t>(kParts);
  std::vector<double> per_step;
  size_t growing = 0;
  for (size_t i = 0; i < kParts; ++i) {
    const int64_t begin = half + static_cast<int64_t>(i) * length;
    const size_t steps = StepsBetween(trainer, begin, begin + length);
    if (steps == 0) return {};
    const double grown = At(points, begin + length) - At(points, begin);
    growing += grown > 0 ? 1 : 0;
    per_step.push_back(grown / static_cast<double>(steps));
  }
  const double now = At(points, end), grown = now - At(points, half);
  const Estimate growth = MeanWithError(per_step);
  if (growing < kFewestGrowing || growth.low <= 0) return {};
  if (grown < kLeastGrowth || grown < kLeastShare * now) return {};
  const int64_t since = FindBegin(points, half, length, grown / static_cast<double>(kParts));
  const double per_second = grown / (static_cast<double>(end - half) / 1e9);
  return MemoryGrowth{.process = trainer.process,
                      .bytes_per_step = growth,
                      .since_s = std::max(0.0, static_cast<double>(since - first) / 1e9),
                      .grown = static_cast<uint64_t>(std::max(0.0, now - At(points, since))),
                      .now = static_cast<uint64_t>(now),
                      .full_in_s = static_cast<double>(Available(samples.back())) / per_second};
}

}  // namespace

std::vector<MemoryGrowth> FindMemoryGrowth(const std::vector<SystemSample>& samples,
                                           const std::vector<TrainerSteps>& trainers) {
  std::vector<MemoryGrowth> found;
  std::set<int> looked_at;
  for (const TrainerSteps& trainer : trainers) {
    if (trainer.steps.empty() || !looked_at.insert(trainer.process).second) continue;
    if (const auto growth = FindGrowth(trainer, samples)) found.push_back(*growth);
  }
  return found;
}

}  // namespace recpack::probe
