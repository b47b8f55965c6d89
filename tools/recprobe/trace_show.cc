#include "tools/recprobe/trace_show.h"

#include <nlohmann/json.hpp>

#include "recpack/probe/show.h"
#include "recpack/probe/trace_summary.h"
#include "src/base/format.h"

namespace recpack::tool {
namespace {

using Json = nlohmann::ordered_json;

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

}  // namespace

std::string TraceJson(const Verdict& verdict, const std::vector<TimedEvent>& events) {
  const TraceSummary summary = Summarise(events);
  Json json = {{"verdict", Json::parse(VerdictJson(verdict))},
               {"devices", Json::array()},
               {"tables", Json::array()}};
  for (const DeviceUse& use : summary.devices) json["devices"].push_back(Of(use));
  for (const TraceTable& table : summary.tables) json["tables"].push_back(Of(table));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string TraceText(const std::vector<TimedEvent>& events, size_t rows) {
  const TraceSummary summary = Summarise(events);
  std::string text;
  for (const DeviceUse& use : summary.devices) text += "\n" + Text(use);
  for (const TraceTable& table : summary.tables) text += "\n" + TraceTableText(table, rows);
  return text;
}

}  // namespace recpack::tool
