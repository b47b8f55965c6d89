#include "tools/recprobe/live_metrics.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/event_log.h"
#include "recpack/train/launch.h"
#include "tools/recprobe/job.h"

namespace recpack::tool {
namespace {

using namespace std::chrono_literals;

constexpr size_t kLatestSteps = 10'000;  // that the figures are of, of each trainer
constexpr double kMostCost = 0.002;      // of a core

// As the launcher says; empty where what it says makes no sense.
std::string Rank() {
  try {
    return std::to_string(LaunchPlace::FromEnvironment().rank);
  } catch (const Error& error) {
    std::fprintf(stderr, "recprobe: figures without rank: %s\n", error.what());
    return "";
  }
}

}  // namespace

void AddPrometheusFlags(CLI::App& command, PrometheusFlags& flags) {
  command.add_option("--prometheus", flags.address,
                     "HOST:PORT where figures are served for Prometheus while the program runs; "
                     "port 0 takes a free one. docs/prometheus.md.");
  command.add_option("--job", flags.job,
                     "What figures and report call the job. Default: the program.");
}

LiveMetrics::LiveMetrics(const PrometheusFlags& flags, const std::string& program,
                         std::string user) {
  if (flags.address.empty()) return;
  MetricLabels labels{.job = flags.job, .rank = Rank()};
  if (labels.job.empty()) labels.job = std::filesystem::path(program).filename();
  labels.user = user.empty() ? OwnUser() : std::move(user);
  labels.host = OwnHost();
  server_.emplace(flags.address);
  metrics_.emplace(std::move(labels));
  gpus_.emplace();
  std::fprintf(stderr, "recprobe: figures for Prometheus at http://%s/metrics\n",
               server_->address().c_str());
}

void LiveMetrics::Update(const Watch& watch) {
  const auto begin = Clock::now();
  if (!metrics_ || begin < next_) return;
  const Evidence evidence = watch.Collected(kLatestSteps);
  server_->Publish(metrics_->Text(evidence, Decide(evidence), gpus_->Sample(), EventLog::Now()));
  const auto end = Clock::now();
  const auto cost = std::chrono::duration<double>(end - begin) / kMostCost;
  const auto usual = std::clamp<Clock::duration>(begin - begin_, 1s, 15s);
  next_ = begin + std::max(usual, std::chrono::duration_cast<Clock::duration>(cost));
}

}  // namespace recpack::tool
