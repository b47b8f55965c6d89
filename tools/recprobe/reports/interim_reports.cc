#include "tools/recprobe/reports/interim_reports.h"

#include <cstdio>
#include <exception>
#include <utility>
#include <vector>

#include "recpack/base/event_log.h"
#include "src/probe/causes/decide.h"
#include "src/probe/util/units.h"
#include "src/remote/url/url.h"
#include "tools/recprobe/pace.h"
#include "tools/recprobe/reports/report_store.h"

namespace recpack::tool {

InterimReports::InterimReports(const ReportFlag& flag, double every, probe::ReportParts parts)
    : flag_(flag),
      every_(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(every))),
      parts_(std::move(parts)),
      next_(Clock::now() + every_) {}

void InterimReports::Update(const probe::Watch& watch) {
  const auto begin = Clock::now();
  if (every_ == Clock::duration::zero() || begin < next_) return;
  if (written_.valid() && written_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    return;
  }
  Collect();
  try {
    Write(watch);
  } catch (const std::exception& error) {
    Tell(error);
  }
  next_ = NextOfWork(begin, every_);
}

std::string InterimReports::Finish() {
  Collect();
  return folder_;
}

void InterimReports::Collect() {
  if (!written_.valid()) return;
  try {
    folder_ = written_.get();
    error_.clear();
  } catch (const std::exception& error) {
    Tell(error);
  }
}

void InterimReports::Tell(const std::exception& error) {
  if (error_ != error.what()) std::fprintf(stderr, "recprobe: %s\n", error.what());
  error_ = error.what();
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
  std::vector<probe::ReportFile> contents = {{"report.json", probe::ReportJson(report)},
                                             {"report.html", probe::ReportPage(report)}};
  const auto policy = remote::IsUrl(flag_.folder) ? std::launch::async : std::launch::deferred;
  written_ =
      std::async(policy, [folder = flag_.folder, contents = std::move(contents), before = folder_] {
        return PlaceReport(folder, contents, before);
      });
  if (policy == std::launch::deferred) Collect();
}

}  // namespace recpack::tool
