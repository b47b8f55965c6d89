#include "tools/recprobe/interim_reports.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <utility>
#include <vector>

#include "recpack/base/event_log.h"
#include "recpack/base/file.h"
#include "src/probe/causes/decide.h"
#include "src/probe/util/units.h"

namespace recpack::tool {
namespace {

constexpr double kMostOfACore = 0.002;

}  // namespace

InterimReports::InterimReports(const ReportFlag& flag, double every, probe::ReportParts parts)
    : flag_(flag),
      every_(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(every))),
      parts_(std::move(parts)),
      next_(Clock::now() + every_) {}

void InterimReports::Update(const probe::Watch& watch) {
  const auto begin = Clock::now();
  if (every_ == Clock::duration::zero() || begin < next_) return;
  try {
    Write(watch);
    error_.clear();
  } catch (const std::exception& error) {
    if (error_ != error.what()) std::fprintf(stderr, "recprobe: %s\n", error.what());
    error_ = error.what();
  }
  const std::chrono::duration<double> cost = Clock::now() - begin;
  next_ =
      begin + std::max(every_, std::chrono::duration_cast<Clock::duration>(cost / kMostOfACore));
}

void InterimReports::Write(const probe::Watch& watch) {
  probe::Evidence evidence = watch.Collected();
  if (evidence.trainers.empty() && evidence.no_steps.empty()) {
    evidence.no_steps = "the program has reported no steps so far";
  }
  probe::ReportParts parts = parts_;
  parts.job.running = true;
  parts.job.seconds = probe::Seconds(EventLog::Now() - parts.begin);
  parts.timeline = watch.SampledTimeline();
  const probe::Report report =
      probe::MakeReport(std::move(parts), evidence, probe::Decide(evidence));
  const std::vector<probe::ReportFile> contents = {{"report.json", probe::ReportJson(report)},
                                                   {"report.html", probe::ReportPage(report)}};
  if (folder_.empty()) {
    folder_ = probe::WriteReportFiles(PosixFiles(), flag_.folder, contents);
  } else {
    probe::ReplaceReportFiles(PosixFiles(), folder_, contents);
  }
}

}  // namespace recpack::tool
