#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "src/probe/report/kept_report.h"

namespace recpack::probe {
namespace {

using Launch = std::tuple<std::string, std::string, int, std::vector<std::string>, std::string>;

bool IsOneOfSeveral(const Job& job) { return job.rank && job.world_size.value_or(1) > 1; }

// "runs/7" of "runs/7/rank0/report.json".
std::string FolderOfRanks(const std::string& path) {
  return std::filesystem::path(path).parent_path().parent_path();
}

// Drops --local_rank, which some launchers set per rank.
std::vector<std::string> WithoutLocalRank(const std::vector<std::string>& command) {
  std::vector<std::string> words;
  for (auto word = command.begin(); word != command.end(); ++word) {
    const bool apart = *word == "--local_rank" || *word == "--local-rank";
    if (apart && word + 1 != command.end()) ++word;
    if (apart || word->starts_with("--local_rank=") || word->starts_with("--local-rank=")) continue;
    words.push_back(*word);
  }
  return words;
}

// The launcher's name for a launch is more reliable than commands, in which ranks may differ.
Launch MakeLaunch(const KeptReport& report) {
  const Job& job = report.job;
  const bool named = !job.launch.empty();
  return {job.name, job.user, *job.world_size,
          named ? std::vector<std::string>() : WithoutLocalRank(job.command),
          named ? "launch " + job.launch : "in " + FolderOfRanks(report.path)};
}

// Adds the report to the first job without its rank.
void Put(KeptReport report, std::vector<JobReports>& jobs) {
  for (JobReports& job : jobs) {
    const bool is_there = std::any_of(job.begin(), job.end(), [&](const KeptReport& other) {
      return other.job.rank == report.job.rank;
    });
    if (!is_there) {
      job.push_back(std::move(report));
      return;
    }
  }
  jobs.push_back({});
  jobs.back().push_back(std::move(report));
}

}  // namespace

std::vector<JobReports> JoinRanks(std::vector<KeptReport> reports) {
  std::stable_sort(reports.begin(), reports.end(), [](const KeptReport& a, const KeptReport& b) {
    return a.job.begin.value_or(0) < b.job.begin.value_or(0);
  });
  std::map<Launch, std::vector<JobReports>> launches;
  std::vector<JobReports> jobs;
  for (KeptReport& report : reports) {
    if (IsOneOfSeveral(report.job)) {
      std::vector<JobReports>& of_launch = launches[MakeLaunch(report)];
      Put(std::move(report), of_launch);
    } else {
      jobs.push_back({});
      jobs.back().push_back(std::move(report));
    }
  }
  for (auto& [launch, of_launch] : launches) {
    for (JobReports& job : of_launch) {
      std::sort(job.begin(), job.end(),
                [](const KeptReport& a, const KeptReport& b) { return a.job.rank < b.job.rank; });
      jobs.push_back(std::move(job));
    }
  }
  return jobs;
}

}  // namespace recpack::probe
