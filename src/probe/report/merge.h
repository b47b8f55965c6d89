// What the trainings of many ranks or many jobs lose to input. docs/merge.md has the formulae.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "src/probe/report/kept_report.h"

namespace recpack::probe {

struct MergedJob {
  std::string name;
  std::string user;
  std::vector<std::string> hosts;
  std::vector<int> ranks;  // those with a report; none: it was no launch of several
  int world_size = 1;
  std::vector<std::string> reports;  // their paths
  bool gpus = false;                 // hours are of GPUs; else of devices, one a training thread
  double hours = 0;                  // watched, of all its devices
  std::optional<Estimate> lost;      // of these hours, to input; nothing: no steps were seen
  std::string verdict;               // of the whole job, as BandName() has it
  std::string cause;
  std::string cure;              // empty: nothing
  std::optional<int> slow_rank;  // that the others wait for
  std::vector<std::string> notes;
};

struct MergedHours {
  double hours = 0;
  double known = 0;  // of these, those of jobs whose loss is known
  Estimate lost;
};

struct Merge {
  std::vector<MergedJob> jobs;  // the greatest loss first, those of which none is known last
  size_t reports = 0;
  size_t unknown = 0;  // jobs whose loss is not known: only their hours count
  MergedHours gpus;
  MergedHours devices;  // of jobs without GPUs, or whose GPUs are not known
  std::vector<LeftOut> left_out;
};

Merge MergeReports(FoundReports found);

// One table, 100 columns wide.
std::string MergeText(const Merge& merge);
// One JSON object on one line.
std::string MergeJson(const Merge& merge);

}  // namespace recpack::probe
