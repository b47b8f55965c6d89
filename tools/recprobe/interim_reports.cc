#include "tools/recprobe/interim_reports.h"

#include <cstdio>
#include <exception>
#include <utility>

#include "recpack/base/event_log.h"
#include "recpack/base/file.h"
#include "src/probe/causes/decide.h"
#include "src/probe/util/units.h"
#include "tools/recprobe/pace.h"

namespace recpack::tool {

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
  next_ = NextOfWork(begin, every_);
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
  parts.ceilings = probe::KeptCeilings();
  const probe::Report report =
      probe::MakeReport(std::move(parts), evidence, probe::Decide(evidence));
  folder_ = probe::WriteReportFiles(
      PosixFiles(), flag_.folder,
      {{"report.json", probe::ReportJson(report)}, {"report.html", probe::ReportPage(report)}},
      folder_);
}

}  // namespace recpack::tool
