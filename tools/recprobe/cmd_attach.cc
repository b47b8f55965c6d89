#include <csignal>
#include <memory>
#include <thread>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "tools/recprobe/watch_flags.h"

namespace recpack::tool {
namespace {

struct Flags {
  int pid = 0;
  double seconds = 30;
  WatchFlags watch;
};

bool Lives(int pid) { return ::kill(pid, 0) == 0 || errno == EPERM; }

int RunAttach(const Flags& flags) {
  if (!Lives(flags.pid)) {
    throw Error(ErrorKind::kNotFound, format("there is no process {}", flags.pid), {},
                "ps or nvidia-smi lists those there are");
  }
  Watch watch({.roots = {flags.pid},
               .no_events = "a program tells of its waits only where `recprobe run` started it"});
  const auto begin = std::chrono::steady_clock::now();
  const auto end = begin + std::chrono::duration<double>(flags.seconds);
  auto next = begin;
  while (next < end && Lives(flags.pid)) {
    watch.Sample();
    next += flags.watch.interval();
    std::this_thread::sleep_until(next);
  }
  return ShowVerdict(Decide(watch.Collected()), flags.watch);
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
  AddWatchFlags(command, flags->watch);
  command.callback([flags, &exit_code] { exit_code = RunAttach(*flags); });
}

}  // namespace recpack::tool
