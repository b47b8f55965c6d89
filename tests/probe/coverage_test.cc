// The interval of a share holds the truth as often as it says, for steps as trainings have them.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>

#include "src/probe/util/estimate.h"

namespace recpack::probe {
namespace {

using Random = std::mt19937;

struct Process {
  std::string name;
  double truth = 0;
  size_t steps = 0;
  std::function<std::vector<Part>(Random&, size_t steps)> make;
  double least = 0.91, most = 0.985;  // how often, of the drawn series
};

// Waits of 25 on average beside work of 75, with neighbours that depend on each other by `factor`.
std::vector<Part> Dependent(Random& random, size_t steps, double factor) {
  std::normal_distribution<double> noise;
  double level = noise(random);
  std::vector<Part> series;
  for (size_t i = 0; i < steps; ++i) {
    const double wait = 25 + 6 * level;
    series.push_back({wait, wait + 75 + noise(random)});
    level = factor * level + std::sqrt(1 - factor * factor) * noise(random);
  }
  return series;
}

// A tenth of the steps, on average, waits for ten times as long as all would.
std::vector<Part> Rare(Random& random, size_t steps) {
  std::exponential_distribution<double> wait(1.0 / 110);
  std::vector<Part> series;
  for (size_t i = 0; i < steps; ++i) {
    const double part = random() % 10 == 0 ? wait(random) : 0;
    series.push_back({part, part + 99});
  }
  return series;
}

// Exponential waits that stay for four steps on average, as those for a ring of batches do.
std::vector<Part> Bursts(Random& random, size_t steps) {
  std::exponential_distribution<double> wait(1.0 / 11);
  double level = wait(random);
  std::vector<Part> series;
  for (size_t i = 0; i < steps; ++i) {
    if (random() % 4 == 0) level = wait(random);
    series.push_back({level, level + 99});
  }
  return series;
}

// Waits once an epoch of 37 steps, begun anywhere. That they come so regularly is not made use of:
// the interval is wider than it need be.
std::vector<Part> Epochs(Random& random, size_t steps) {
  std::uniform_real_distribution<double> wait(200, 540);
  size_t at = random() % 37;
  std::vector<Part> series;
  for (size_t i = 0; i < steps; ++i) {
    const double part = at++ % 37 == 0 ? wait(random) : 0;
    series.push_back({part, part + 90});
  }
  return series;
}

// The machine is slower and faster over some hundred steps.
std::vector<Part> Drift(Random& random, size_t steps) {
  std::normal_distribution<double> noise;
  double level = noise(random);
  std::vector<Part> series;
  for (size_t i = 0; i < steps; ++i) {
    const double wait = 25 + 2 * noise(random) + 2 * level;
    series.push_back({wait, wait + 75 + noise(random)});
    level = 0.98 * level + std::sqrt(1 - 0.98 * 0.98) * noise(random);
  }
  return series;
}

auto DependentBy(double factor) {
  return [factor](Random& random, size_t steps) { return Dependent(random, steps, factor); };
}

class Coverage : public testing::TestWithParam<Process> {};

TEST_P(Coverage, IsWhatTheIntervalSays) {
  constexpr int kRuns = 500;
  const Process& process = GetParam();
  Random random(2026);
  int held = 0, below = 0;
  double width = 0;
  for (int run = 0; run < kRuns; ++run) {
    const Estimate share = EstimateShare(process.make(random, process.steps));
    held += share.low <= process.truth && process.truth <= share.high ? 1 : 0;
    below += share.high < process.truth ? 1 : 0;
    width += share.high - share.low;
  }
  RecordProperty("held", held);
  RecordProperty("below", below);
  RecordProperty("mean_width", std::to_string(width / kRuns));
  EXPECT_GE(held, kRuns * process.least);
  EXPECT_LE(held, kRuns * process.most);
}

INSTANTIATE_TEST_SUITE_P(, Coverage,
                         testing::Values(Process{"Independent", 0.25, 300, DependentBy(0)},
                                         Process{"IndependentAndFew", 0.25, 40, DependentBy(0)},
                                         Process{"Half", 0.25, 300, DependentBy(0.5)},
                                         Process{"NineTenths", 0.25, 400, DependentBy(0.9)},
                                         Process{"Rare", 0.1, 300, Rare},
                                         Process{"Bursts", 0.1, 400, Bursts},
                                         Process{"Epochs", 0.1, 1000, Epochs, 0.95, 1},
                                         Process{"Drift", 0.25, 2000, Drift}),
                         [](const auto& named) { return named.param.name; });

}  // namespace
}  // namespace recpack::probe
