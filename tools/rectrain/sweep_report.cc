#include "tools/rectrain/sweep_report.h"

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/text.h"
#include "src/base/format.h"
#include "tools/rectrain/input_report.h"

namespace recpack::tool {
namespace {

train::StepTiming ToTiming(const Json& json) {
  return {.samples_per_second = json.at("samples_per_s"),
          .step_seconds = json.at("step_seconds"),
          .input_wait_seconds = json.at("input_wait_seconds"),
          .exchange_wait_seconds = json.at("exchange_wait_seconds"),
          .exchange_bytes = json.at("exchange_bytes"),
          .copies = json.value("copies", 0.0),  // not in files of earlier versions
          .copy_bytes = json.value("copy_bytes", 0.0),
          .copy_seconds = json.value("copy_seconds", 0.0),
          .epoch_steps = json.value("epoch_steps", 0.0)};
}

Json CaseNames(const train::SweepPlan& plan, const train::SweepCase& of) {
  Json names;
  for (size_t i = 0; i < plan.axes.size(); ++i) names[plan.axes[i]] = of.names[i];
  return names;
}

[[noreturn]] void RefuseSweep(const std::string& why, const std::string& path) {
  throw Error(ErrorKind::kInvalidArgument, "not a sweep: " + why, {.path = path},
              "remove it, or name another folder");
}

void AddRun(const Json& json, size_t of, std::vector<train::SweepRun>& runs) {
  if (json.contains("error")) return;
  runs.push_back({.of = of, .round = json.at("round"), .timing = ToTiming(json)});
}

}  // namespace

std::vector<SweepRow> ToRows(const SweepReport& report) {
  std::vector<SweepRow> rows;
  double first = 0;
  for (size_t of = 0; of < report.plan.cases.size(); ++of) {
    SweepRow row{.names = report.plan.cases[of].names};
    std::vector<train::StepTiming> timings;
    for (const train::SweepRun& run : report.runs) {
      if (run.of != of) continue;
      if (run.error.empty())
        timings.push_back(run.timing);
      else
        row.error = run.error;
    }
    if (timings.empty() && row.error.empty()) row.error = "not measured yet";
    row.timing = train::MedianTiming(timings);
    if (row.error.empty()) {
      if (first == 0) first = row.timing.samples_per_second;
      row.ratio = row.timing.samples_per_second / first;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Json ToJson(const SweepReport& report) {
  const std::vector<SweepRow> rows = ToRows(report);
  Json json = {{"date", report.date}, {"setting", report.setting}, {"rows", Json::array()}};
  for (size_t of = 0; of < rows.size(); ++of) {
    Json row = CaseNames(report.plan, report.plan.cases[of]);
    if (rows[of].error.empty()) {
      row.update(TimingJson<Json>(rows[of].timing));
      row["ratio"] = rows[of].ratio;
    } else {
      row["error"] = rows[of].error;
    }
    row["runs"] = Json::array();
    for (const train::SweepRun& run : report.runs) {
      if (run.of != of) continue;
      Json each = {{"round", run.round}};
      each.update(run.error.empty() ? TimingJson<Json>(run.timing) : Json{{"error", run.error}});
      row["runs"].push_back(std::move(each));
    }
    json["rows"].push_back(std::move(row));
  }
  json["left_out"] = report.plan.left_out;
  return json;
}

std::vector<train::SweepRun> ReadRuns(const std::string& path, const SweepReport& report) {
  std::vector<train::SweepRun> runs;
  const ByteBuffer text = ReadWholeFile(PosixFiles(), path);
  try {
    if (NestsTooDeep({reinterpret_cast<const char*>(text.data()), text.size()})) {
      RefuseSweep("it is nested too deeply", path);
    }
    const Json json = Json::parse(text.begin(), text.end());
    if (json.at("setting") != report.setting) {
      throw Error(
          ErrorKind::kInvalidArgument,
          format("it was made with {}, not {}", json.at("setting").dump(), report.setting.dump()),
          {.path = path}, "give the same flags, or another folder");
    }
    const Json& rows = json.at("rows");
    for (size_t of = 0; of < report.plan.cases.size(); ++of) {
      for (const Json& run : rows.at(of).at("runs")) AddRun(run, of, runs);
    }
  } catch (const Json::parse_error& error) {
    RefuseSweep(format("it is not JSON from byte {} on", error.byte), path);
  } catch (const Json::exception&) {
    RefuseSweep("a member is missing or has another type", path);
  }
  return runs;
}

}  // namespace recpack::tool
