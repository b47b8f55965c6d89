// Sums up what the trainings of many ranks or jobs lose to input (docs/guide/merging.md).
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
  size_t running = 0;      // reports of programs that go on
  std::vector<int> ranks;  // ranks with a report; empty if the job had a single process
  int world_size = 1;
  std::vector<std::string> reports;  // paths
  bool gpus = false;                 // hours are GPU-hours; else one device per training thread
  double hours = 0;                  // watched, of all devices of the job
  std::optional<Estimate> lost;      // hours lost to input; nullopt if no waits were seen
  std::string verdict;               // BandName() of the job
  std::string cause;
  std::string cure;              // empty if there is none
  std::optional<int> slow_rank;  // the rank that the others wait for
  std::vector<std::string> notes;
};

struct MergedHours {
  double hours = 0;
  double known = 0;  // part of `hours` in jobs whose loss is known
  Estimate lost;
};

struct Merge {
  std::vector<MergedJob> jobs;  // the greatest loss first, jobs with unknown loss last
  size_t reports = 0;
  size_t unknown = 0;  // jobs with unknown loss
  MergedHours gpus;
  MergedHours devices;  // jobs without GPUs, or with an unknown number
  std::vector<LeftOut> left_out;

  // Number of reports whose programs go on.
  size_t running() const;
};

Merge MergeReports(FoundReports found);

// One table, 100 columns wide.
std::string MergeText(const Merge& merge);
// One JSON object on one line.
std::string MergeJson(const Merge& merge);

}  // namespace recpack::probe
