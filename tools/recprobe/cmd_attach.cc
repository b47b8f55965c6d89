#include <memory>

#include "recpack/probe/show.h"
#include "recpack/probe/watched_process.h"
#include "tools/recprobe/live_metrics.h"
#include "tools/recprobe/watch_flags.h"

namespace recpack::tool {
namespace {

using Clock = std::chrono::steady_clock;

struct Flags {
  int pid = 0;
  double seconds = 30;
  PrometheusFlags prometheus;
  WatchFlags watch;
};

int RunAttach(const Flags& flags) {
  WatchedProcess process(flags.pid);
  LiveMetrics metrics(flags.prometheus, process.name(), process.user());
  Watch watch({.roots = {flags.pid},
               .no_events = "a program tells of its waits only where `recprobe run` started it"});
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::duration<double>(flags.seconds);
  auto next = begin;
  do {
    watch.Sample();
    metrics.Update(watch);
    next = std::max(next + flags.watch.interval(), Clock::now());
  } while (next < end && !process.Wait(next - Clock::now()));
  watch.Sample();
  Evidence evidence = watch.Collected();
  for (const Unseen& unseen : process.unseen()) evidence.unseen.push_back(UnseenText(unseen));
  return ShowVerdict(Decide(evidence), flags.watch);
}

}  // namespace

void AddAttach(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand("attach", "Watch a program that runs.");
  const auto flags = std::make_shared<Flags>();
  command.add_option("--pid", flags->pid, "The process; its children are watched with it.")
      ->required()
      ->check(CLI::PositiveNumber);
  command.add_option("--seconds", flags->seconds, "For how long, if it does not end before.")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  AddPrometheusFlags(command, flags->prometheus);
  AddWatchFlags(command, flags->watch);
  command.callback([flags, &exit_code] { exit_code = RunAttach(*flags); });
}

}  // namespace recpack::tool
