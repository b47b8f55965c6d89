// One cause of a training's lost time, and the action that a report ends with.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "src/probe/evidence/bottleneck.h"

namespace recpack::probe {

// Causes overlap: the shares of several may add up to more than 1.
struct Cause {
  Bottleneck bottleneck = Bottleneck::kUnknown;
  // Share of step time that curing this cause alone would save. Missing if it cannot be predicted.
  std::optional<double> saves;
  double weight = 0;                  // decides among causes that save about the same
  std::vector<std::string> evidence;  // strongest first
  std::string cure;                   // what to do; empty: the usual cure
  std::string where;                  // file, line and function of the program, if known
};

// Times as many steps per second if this share of their time is saved. At most kMostSpeedup.
inline constexpr double kMostSpeedup = 50;
double Speedup(double saves) noexcept;
// "2.56 times as fast", "over 50 times as fast".
std::string SpeedupText(double saves);

// The one thing to do next.
struct Action {
  Bottleneck bottleneck = Bottleneck::kUnknown;  // the cause that it cures
  std::string text;
  std::optional<double> saves;  // expected share of step time
  std::string where;            // file, line and function of the program, if known
};

// "ACTION; expected: 2.56 times as fast; at FILE:LINE (FUNCTION)". The place is not said twice.
std::string ActionText(const Action& action);

}  // namespace recpack::probe
