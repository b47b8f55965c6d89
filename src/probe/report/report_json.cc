#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "src/base/format.h"
#include "src/probe/report/report.h"
#include "src/probe/util/clock_text.h"
#include "src/probe/util/units.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {
namespace {

using Json = nlohmann::ordered_json;

// Rounds to five digits, which is enough for charts.
double Short(double value) { return std::strtod(format("{:.5g}", value).c_str(), nullptr); }

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json OrNull(const Figure& value) {
  return value && std::isfinite(*value) ? Json(Short(*value)) : Json();
}

Json OrNull(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json ToJson(const Job& job) {
  return {{"name", OrNull(job.name)},
          {"command", job.command},
          {"host", OrNull(job.host)},
          {"user", OrNull(job.user)},
          {"launch", OrNull(job.launch)},
          {"rank", OrNull(job.rank)},
          {"world_size", OrNull(job.world_size)},
          {"process", job.process > 0 ? Json(job.process) : Json()},
          {"begin", job.begin ? Json(ClockText(*job.begin)) : Json()},
          {"seconds", job.seconds},
          {"running", job.running},
          {"exit_code", OrNull(job.exit_code)},
          {"gpus", OrNull(job.gpus)},
          {"batch_size", OrNull(job.batch_size)}};
}

const char* SourceName(TrainerSteps::Source source) {
  constexpr const char* kNames[] = {"told", "marked", "between_waits", "loader"};
  return kNames[static_cast<size_t>(source)];
}

Json ToJson(const StepSeries& series, int64_t from) {
  Json json = {{"process", series.process},
               {"lane", series.lane},
               {"device", series.device == Event::kNoDevice ? Json() : Json(series.device)},
               {"source", SourceName(series.source)},
               {"device_seen", series.device_seen},
               {"steps", series.steps}};
  const auto column = [&](const char* name, auto value) {
    Json& values = json[name] = Json::array();
    for (const StepStretch& stretch : series.stretches) values.push_back(value(stretch));
  };
  const auto times = [&](const char* name, double StepStretch::*what) {
    column(name, [what](const StepStretch& stretch) { return Short(stretch.*what); });
  };
  const auto since = [from](int64_t time) { return Seconds(time - from); };
  column("begin_s", [&](const StepStretch& stretch) { return since(stretch.begin); });
  column("end_s", [&](const StepStretch& stretch) { return since(stretch.end); });
  column("count", [](const StepStretch& stretch) { return stretch.steps; });
  times("step_s", &StepStretch::step);
  times("longest_s", &StepStretch::longest);
  times("input_wait_s", &StepStretch::input_wait);
  times("copies_s", &StepStretch::copies);
  times("device_copies_s", &StepStretch::device_copies);
  times("exchange_s", &StepStretch::exchange);
  times("device_s", &StepStretch::device);
  times("other_s", &StepStretch::other);
  return json;
}

Json ToJson(const Timeline& timeline, int64_t from) {
  Json json = {{"begin_s", Json::array()}, {"end_s", Json::array()}};
  for (size_t i = 0; i < timeline.begin.size(); ++i) {
    json["begin_s"].push_back(Seconds(timeline.begin[i] - from));
    json["end_s"].push_back(Seconds(timeline.end[i] - from));
  }
  for (const char* group : {"cpu", "devices", "pressure"}) json[group] = Json::array();
  for (const TimelineSeries& series : timeline.series) {
    Json values = Json::array();
    for (const Figure& value : series.values) values.push_back(OrNull(value));
    json[series.group].push_back({{"of", series.of},
                                  {"name", series.name},
                                  {"unit", series.unit},
                                  {"values", std::move(values)}});
  }
  return json;
}

Json ToJson(const ThreadRates& thread) {
  return {{"thread", thread.thread},
          {"process", thread.process},
          {"name", thread.name},
          {"state", std::string(1, thread.state)},
          {"processor", thread.processor < 0 ? Json() : Json(thread.processor)},
          {"cpu_share", Short(thread.cpu_share)},
          {"run_queue_wait_share", OrNull(thread.run_queue_wait_share)},
          {"block_io_wait_share", OrNull(thread.block_io_wait_share)}};
}

Json ToJson(const ProcessRates& process) {
  return {{"process", process.process},
          {"name", process.name},
          {"cpu_cores", Short(process.cpu_cores)},
          {"read_bytes_per_s", OrNull(process.read_chars_per_second)},
          {"read_from_storage_bytes_per_s", OrNull(process.read_bytes_per_second)},
          {"written_to_storage_bytes_per_s", OrNull(process.written_bytes_per_second)},
          {"major_faults_per_s", Short(process.major_faults_per_second)}};
}

Json ToJson(const StageReport& stage) {
  return {{"name", stage.name},
          {"share", Short(stage.share)},
          {"rate", OrNull(stage.rate)},
          {"ceiling", OrNull(stage.ceiling)},
          {"ceiling_share", OrNull(stage.ceiling_share)},
          {"next", OrNull(stage.next)}};
}

Json ToJson(const TraceTable& table) {
  Json json = {{"title", table.title}, {"time_ns", table.time}, {"rows", Json::array()}};
  for (const TraceRow& row : table.rows) {
    json["rows"].push_back({{"name", row.name},
                            {"time_ns", row.time},
                            {"calls", row.calls},
                            {"avg_ns", row.average()},
                            {"min_ns", row.min},
                            {"max_ns", row.max},
                            {"bytes", row.bytes}});
    if (!row.operation.empty()) json["rows"].back()["operation"] = row.operation;
  }
  return json;
}

Json ToJson(const DeviceUse& use) {
  Json json = {{"process", use.process},
               {"device", use.device},
               {"time_ns", use.duration()},
               {"utilisation", use.utilisation()},
               {"compute_ns", use.compute},
               {"copies_ns", use.copies},
               {"copy_overlap", use.overlap()},
               {"uncovered_exchange_ns", use.uncovered_exchange},
               {"idle_ns", use.idle},
               {"longest_gaps_ns", Json::array()},
               {"streams", use.streams},
               {"kernel_concurrency", use.concurrency()},
               {"mean_at_once", Short(use.mean_at_once())},
               {"at_once_ns", use.at_once}};
  for (const DeviceGap& gap : use.longest) json["longest_gaps_ns"].push_back(gap.end - gap.begin);
  json["gaps"] = Json::array();
  for (size_t i = 0; i < use.gaps.size(); ++i) {
    json["gaps"].push_back({{"below_ns", OrNull(DeviceUse::GapLimit(i))},
                            {"gaps", use.gaps[i].gaps},
                            {"time_ns", use.gaps[i].time}});
  }
  return json;
}

// Adds "devices" and "tables".
void AddTrace(const TraceSummary& summary, Json& json) {
  json["devices"] = Json::array();
  json["tables"] = Json::array();
  for (const DeviceUse& use : summary.devices) json["devices"].push_back(ToJson(use));
  for (const TraceTable& table : summary.tables) json["tables"].push_back(ToJson(table));
}

std::string Line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string TraceJson(const Verdict& verdict, const TraceSummary& summary) {
  Json json = Json::parse(VerdictJson(verdict));
  AddTrace(summary, json);
  return Line(json);
}

std::string ReportJson(const Report& report) {
  Json json = {{"version", kReportVersion}, {"recprobe", report.recprobe},
               {"job", ToJson(report.job)}, {"verdict", Json::parse(VerdictJson(report.verdict))},
               {"steps", Json::array()},    {"timeline", ToJson(report.timeline, report.begin)},
               {"threads", Json::array()},  {"processes", Json::array()},
               {"stages", Json::array()}};
  for (const StepSeries& series : report.steps)
    json["steps"].push_back(ToJson(series, report.begin));
  for (const ThreadRates& thread : report.threads) json["threads"].push_back(ToJson(thread));
  for (const ProcessRates& process : report.processes) json["processes"].push_back(ToJson(process));
  for (const StageReport& stage : report.stages) json["stages"].push_back(ToJson(stage));
  json["loader"] = report.loader ? Json::parse(LoaderUseJson(*report.loader)) : Json();
  AddTrace(report.trace, json);
  json["unseen"] = report.unseen;
  json["how"] = Json::array();
  for (const Explanation& explanation : report.how) {
    json["how"].push_back({{"figure", explanation.figure}, {"how", explanation.how}});
  }
  return Line(json) + "\n";
}

}  // namespace recpack::probe
