// Compares the reports of two trainings. docs/guide/merging.md has the formulae.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/probe/report/kept_report.h"

namespace recpack::probe {

// Difference of independent estimates, by the square-and-add method (Zou and Donner, "Construction
// of confidence limits about effect measures", Statistics in Medicine 2008).
Estimate Difference(const Estimate& from, const Estimate& to);  // to - from
// to / from, by the same method on logarithms. Returns nullopt if the interval of `from` or `to`
// reaches 0.
std::optional<Estimate> Ratio(const Estimate& from, const Estimate& to);

struct Change {
  std::string what;
  Estimate a;
  Estimate b;
  bool is_share = true;            // share of step time; else a rate
  std::optional<Estimate> change;  // b - a for shares, else b / a

  // Tells whether the interval excludes "no change".
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
  std::vector<Change> changes;  // steps/s of a trainer first; empty if a report has no steps
  std::vector<std::pair<StageReport, StageReport>> stages;  // of the same name
  std::vector<Unlike> unlike;  // differences of host, command, ... that may explain the changes
  std::vector<std::string> notes;
};

Comparison CompareReports(const KeptReport& a, const KeptReport& b);

// Tells whether b is surely slower than a by more than this share of a's steps/s. Throws Error
// (kInvalidArgument) if a report has no steps.
bool IsSlower(const Comparison& comparison, double limit);

// One screen, 100 columns wide.
std::string CompareText(const Comparison& comparison);
// One JSON object on one line.
std::string CompareJson(const Comparison& comparison);

}  // namespace recpack::probe
