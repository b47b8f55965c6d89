#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "recpack/base/error.h"
#include "recpack/probe/kineto_trace.h"
#include "recpack/probe/show.h"
#include "recpack/probe/verdict.h"
#include "tools/recprobe/command.h"
#include "tools/recprobe/trace_show.h"

namespace recpack::tool {
namespace {

struct Flags {
  std::string trace;
  size_t rows = 25;
  bool json = false;
};

struct Told {
  std::vector<TimedEvent> events;
  std::vector<std::string> unseen;
};

// A trace of PyTorch's profiler, or a folder of event files.
Told Read(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return {ReadKinetoTrace(path).events, {}};
  EventReader reader(path);
  Told told{reader.Poll(), reader.damage()};
  if (told.events.empty()) {
    throw Error(ErrorKind::kNotFound, "has no events", {.path = path},
                "name a folder that `recprobe run --keep` wrote, or a trace of PyTorch's profiler");
  }
  return told;
}

Verdict VerdictOf(const Told& told) {
  int64_t last = 0;
  for (const TimedEvent& timed : told.events) last = std::max(last, timed.event.end);
  return Decide(
      {.trainers = StepsOf(told.events, last),
       .no_steps = "the trace has no steps (ProfilerStep#, profiler.step()) and no batches",
       .unseen = told.unseen});
}

void RunRead(const Flags& flags) {
  const Told told = Read(flags.trace);
  const Verdict verdict = VerdictOf(told);
  if (flags.json) {
    std::printf("%s\n", TraceJson(verdict, told.events).c_str());
  } else {
    std::printf("%s%s", VerdictText(verdict).c_str(), TraceText(told.events, flags.rows).c_str());
  }
}

}  // namespace

void AddRead(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand(
      "read", "Say of a trace what `run` says: verdict, kernels, copies, gaps of the devices.");
  const auto flags = std::make_shared<Flags>();
  command
      .add_option("trace", flags->trace,
                  "A trace of PyTorch's profiler (.json, .json.gz), or a folder of event files.")
      ->required();
  command.add_option("--rows", flags->rows, "Of each table, for people.")->capture_default_str();
  command.add_flag("--json", flags->json, "Print one JSON object.");
  command.callback([flags, &exit_code] {
    RunRead(*flags);
    exit_code = kDone;
  });
}

}  // namespace recpack::tool
