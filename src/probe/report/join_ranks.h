// Which reports are of one job.
#pragma once

#include <vector>

#include "src/probe/report/kept_report.h"

namespace recpack::probe {

// Reports of one job, by rank; of a job that was no launch of several processes, one.
using JobReports = std::vector<KeptReport>;

// Ranks are of one job where name, user, world size and command are the same, and so is what the
// launcher calls the launch, or, where it calls it nothing, the folder above those of the reports.
// Where a rank is there more than once, its k-th report, by when it began on its own host, is of
// the k-th job: clocks of different hosts are not compared.
std::vector<JobReports> JoinRanks(std::vector<KeptReport> reports);

}  // namespace recpack::probe
