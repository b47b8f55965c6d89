// Two trainings side by side. docs/merge.md has the formulae.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/probe/report/kept_report.h"

namespace recpack::probe {

// Of independent figures, by the square-and-add method (Zou and Donner, "Construction of confidence
// limits about effect measures", Statistics in Medicine 2008).
Estimate DifferenceOf(const Estimate& from, const Estimate& to);  // to - from
// to / from, by the same method on logarithms. Without an upper limit where `from` may be 0;
// nothing where it is 0.
std::optional<Estimate> RatioOf(const Estimate& from, const Estimate& to);

struct Change {
  std::string what;
  Estimate a;
  Estimate b;
  bool is_share = true;            // of step time; else a figure
  std::optional<Estimate> change;  // of shares b - a, else b / a

  // The interval has no place for "the same".
  bool sure() const;
};

struct Unlike {
  std::string what;  // "host"
  std::string a;
  std::string b;
};

struct Comparison {
  std::string verdict_a, verdict_b;
  std::string cause_a, cause_b;
  std::vector<Change> changes;  // steps/s of a trainer first; empty: one of them has no steps
  std::vector<std::pair<StageReport, StageReport>> stages;  // of the same name
  std::vector<Unlike> unlike;  // besides what was to be compared, perhaps
  std::vector<std::string> notes;
};

Comparison CompareReports(const KeptReport& a, const KeptReport& b);

// Whether b is surely slower than a by more than this share of a's steps/s. Throws Error
// (kInvalidArgument) where one of them has no steps.
bool IsSlower(const Comparison& comparison, double limit);

// One screen, 100 columns wide.
std::string CompareText(const Comparison& comparison);
// One JSON object on one line.
std::string CompareJson(const Comparison& comparison);

}  // namespace recpack::probe
