#include "tools/recprobe/live_metrics.h"

#include <algorithm>
#include <cstdio>

#include "recpack/base/event_log.h"
#include "src/probe/causes/decide.h"
#include "tools/recprobe/pace.h"

namespace recpack::tool {
namespace {

using namespace std::chrono_literals;

constexpr size_t kLatestSteps = 10'000;  // per trainer, for the verdict

// Returns an empty label if the launcher's environment is invalid or cannot be read.
std::string RankLabel(const probe::Job& job) {
  if (job.rank) return std::to_string(*job.rank);
  if (job.rank_unseen.empty()) return "0";
  std::fprintf(stderr, "recprobe: metrics without rank: %s\n", job.rank_unseen.c_str());
  return "";
}

}  // namespace

void AddPrometheusFlags(CLI::App& command, PrometheusFlags& flags) {
  command.add_option(
      "--prometheus", flags.address,
      "HOST:PORT to serve metrics for Prometheus while the program runs; port 0 takes "
      "a free one. See docs/reference/prometheus.md.");
  command.add_option("--job", flags.job,
                     "Name of the job in metrics and report. Default: its name in Slurm, else the "
                     "program's.");
}

LiveMetrics::LiveMetrics(const PrometheusFlags& flags, const probe::Job& job) {
  if (flags.address.empty()) return;
  server_.emplace(flags.address);
  metrics_.emplace(probe::MetricLabels{
      .job = job.name, .rank = RankLabel(job), .user = job.user, .host = job.host});
  std::fprintf(stderr, "recprobe: metrics for Prometheus at http://%s/metrics\n",
               server_->address().c_str());
}

void LiveMetrics::Update(const probe::Watch& watch) {
  const auto begin = Clock::now();
  if (!metrics_ || begin < next_) return;
  probe::Evidence evidence = watch.Latest(kLatestSteps);
  const probe::Verdict verdict = probe::Decide(evidence);
  // Counters include all steps of all trainings: fetch more until none is missing.
  evidence.trainers = watch.Trainers(kLatestSteps);
  for (size_t most = kLatestSteps; metrics_->Misses(evidence, most);) {
    most *= 4;
    evidence.trainers = watch.Trainers(most);
  }
  server_->Publish(metrics_->Text(evidence, verdict, watch.Gpus(), EventLog::Now()));
  next_ = NextOfWork(begin, std::clamp<Clock::duration>(begin - begin_, 1s, 15s));
}

}  // namespace recpack::tool
