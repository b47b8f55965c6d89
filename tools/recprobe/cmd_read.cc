#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "recpack/base/error.h"
#include "recpack/probe/kineto_trace.h"
#include "recpack/probe/show.h"
#include "recpack/probe/trace_summary.h"
#include "recpack/probe/verdict.h"
#include "src/base/format.h"
#include "tools/recprobe/command.h"

namespace recpack::tool {
namespace {

using Json = nlohmann::ordered_json;

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
  Evidence evidence{.trainers = StepsOf(told.events, last), .unseen = told.unseen};
  if (evidence.trainers.empty()) {
    evidence.unseen.push_back(
        "input wait: unavailable: the trace has no steps (ProfilerStep#, "
        "profiler.step()) and no batches");
  }
  return Decide(evidence);
}

Json Of(const TraceTable& table) {
  Json json = {{"title", table.title}, {"time_ns", table.time}, {"rows", Json::array()}};
  for (const TraceRow& row : table.rows) {
    json["rows"].push_back({{"name", row.name},
                            {"time_ns", row.time},
                            {"calls", row.calls},
                            {"avg_ns", row.average()},
                            {"min_ns", row.min},
                            {"max_ns", row.max},
                            {"bytes", row.bytes}});
  }
  return json;
}

Json Of(const DeviceUse& use) {
  Json json = {{"process", use.process},        {"device", use.device},
               {"time_ns", use.duration()},     {"utilisation", use.utilisation()},
               {"compute_ns", use.compute},     {"copies_ns", use.copies},
               {"copy_overlap", use.overlap()}, {"uncovered_exchange_ns", use.uncovered_exchange},
               {"idle_ns", use.idle},           {"longest_gaps_ns", Json::array()}};
  for (const DeviceGap& gap : use.longest) json["longest_gaps_ns"].push_back(gap.end - gap.begin);
  return json;
}

std::string Text(const DeviceUse& use) {
  const auto share = [&](int64_t time) {
    return use.duration() > 0
               ? 100.0 * static_cast<double>(time) / static_cast<double>(use.duration())
               : 0.0;
  };
  std::string text = format(
      "device {} of process {}, over {:.3f} ms: kernels {:.1f} %, copies {:.1f} % ({:.0f} % of "
      "them "
      "while kernels ran), neither {:.1f} %\n",
      use.device, use.process, static_cast<double>(use.duration()) * 1e-6, share(use.kernels),
      share(use.copies), 100 * use.overlap(), share(use.idle));
  if (use.longest.empty()) return text;
  text += "  longest gaps:";
  for (const DeviceGap& gap : use.longest) {
    text += format(" {:.3f} ms", static_cast<double>(gap.end - gap.begin) * 1e-6);
  }
  return text + "\n";
}

void RunRead(const Flags& flags) {
  const Told told = Read(flags.trace);
  const Verdict verdict = VerdictOf(told);
  const TraceSummary summary = Summarise(told.events);
  if (flags.json) {
    Json json = {{"verdict", Json::parse(VerdictJson(verdict))},
                 {"devices", Json::array()},
                 {"tables", Json::array()}};
    for (const DeviceUse& use : summary.devices) json["devices"].push_back(Of(use));
    for (const TraceTable& table : summary.tables) json["tables"].push_back(Of(table));
    std::printf("%s\n", json.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
    return;
  }
  std::printf("%s", VerdictText(verdict).c_str());
  for (const DeviceUse& use : summary.devices) std::printf("\n%s", Text(use).c_str());
  for (const TraceTable& table : summary.tables) {
    std::printf("\n%s", TraceTableText(table, flags.rows).c_str());
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
