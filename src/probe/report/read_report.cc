#include <climits>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/text.h"
#include "src/base/format.h"
#include "src/probe/report/kept_report.h"
#include "src/probe/util/clock_text.h"
#include "src/probe/util/report_members.h"

namespace recpack::probe {
namespace {

using Document = nlohmann::json;

constexpr uint64_t kMostBytes = 64 << 20;
constexpr double kMost = 1e15;  // of any count or time
constexpr double kRounding = 1e-6;
constexpr int kMostRank = 1'000'000'000;

Band ParseBand(const ReportMembers& verdict) {
  const std::string name = verdict.Text("verdict");
  for (size_t i = 0; i < kBands; ++i) {
    if (name == BandName(static_cast<Band>(i))) return static_cast<Band>(i);
  }
  verdict.Refuse(format("cannot be '{}'", name), "verdict");
}

Estimate Checked(const Estimate& estimate, const ReportMembers& members) {
  if (!(estimate.low <= estimate.value && estimate.value <= estimate.high)) {
    members.Refuse("is not an interval that contains its value");
  }
  return estimate;
}

Estimate ParseEstimate(const ReportMembers& members, double most) {
  return Checked({members.Number("value", 0, most), members.Number("low", 0, most),
                  members.Number("high", 0, most)},
                 members);
}

// An infinite gain is null in the file. Earlier builds wrote 0 if waits took all of the time.
Estimate ParseGain(const ReportMembers& members, const Estimate& share) {
  const auto end = [&](const char* member, double of_share) {
    const std::optional<double> gain = members.NumberOrNull(member, 0, kMost);
    const bool limited = gain && (*gain > 0 || of_share < 1);
    return limited ? *gain : std::numeric_limits<double>::infinity();
  };
  return Checked({end("value", share.value), end("low", share.low), end("high", share.high)},
                 members);
}

Job ParseJob(const ReportMembers& members) {
  // A report of a trace lacks host, user and process; one of a hidden process lacks its name.
  Job job{.name = members.OptionalText("name"),
          .command = members.Texts("command"),
          .host = members.OptionalText("host"),
          .user = members.OptionalText("user"),
          .launch = members.OptionalText("launch"),
          .rank = members.OptionalInteger("rank", 0, kMostRank),
          .world_size = members.OptionalInteger("world_size", 1, kMostRank)};
  job.process = members.OptionalInteger("process", 0, INT32_MAX).value_or(0);
  if (members.Has("begin")) {
    job.begin = ClockTime(members.Text("begin"));
    if (!job.begin) members.Refuse("is not an ISO 8601 time", "begin");
  }
  job.seconds = members.Number("seconds", 0, kMost);
  job.running = members.Has("running") && members.Flag("running");
  job.exit_code = members.OptionalInteger("exit_code", INT32_MIN, INT32_MAX);
  job.gpus = members.OptionalInteger("gpus", 0, kMostRank);
  job.batch_size = members.OptionalInteger("batch_size", 1, INT32_MAX);
  if (job.rank && job.world_size && *job.rank >= *job.world_size) {
    members.Refuse(format("is {} of {}", *job.rank, *job.world_size), "rank");
  }
  return job;
}

CodeLine ParseLine(const ReportMembers& members) {
  return {.process = static_cast<int>(members.Integer("process", 0, INT_MAX)),
          .role = members.Text("role"),
          .phase = members.Text("phase"),
          .file = members.Text("file"),
          .line = static_cast<int>(members.Integer("line", 0, INT_MAX)),
          .function = members.Text("function"),
          .calling = members.Text("calling"),
          .made = members.OptionalText("made"),
          .share = members.Number("share", 0, 1 + kRounding),
          .blocked = members.Number("blocked", 0, 1 + kRounding),
          .waits = members.OptionalText("waits")};
}

Verdict ParseVerdict(const ReportMembers& members) {
  Verdict verdict;
  verdict.band = ParseBand(members);
  verdict.bottleneck = ParseBottleneck(members.Text("bottleneck"));
  verdict.evidence = members.Texts("evidence");
  verdict.notes = members.Texts("notes");
  if (members.Has("hints")) verdict.hints = members.Texts("hints");
  verdict.cure = members.OptionalText("cure");
  for (const ReportMembers& cause : members.Objects("causes")) {
    verdict.causes.push_back({.bottleneck = ParseBottleneck(cause.Text("cause")),
                              .saves = cause.NumberOrNull("saves", 0, 1),
                              .evidence = cause.Texts("evidence"),
                              .cure = cause.OptionalText("cure"),
                              .where = cause.OptionalText("where")});
  }
  if (members.Has("action")) {
    const ReportMembers action = members.Object("action");
    verdict.action = {.bottleneck = ParseBottleneck(action.Text("cause")),
                      .text = action.Text("text"),
                      .saves = action.NumberOrNull("saves", 0, 1),
                      .where = action.OptionalText("where")};
  }
  if (members.Has("line")) verdict.line = ParseLine(members.Object("line"));
  if (members.Has("lines")) {
    for (const ReportMembers& line : members.Objects("lines")) {
      verdict.lines.push_back(ParseLine(line));
    }
  }
  if (members.Has("rank")) {
    verdict.rank = static_cast<size_t>(members.Integer("rank", 0, kMostRank));
  }
  if (verdict.band != Band::kUnknown) {
    verdict.input_share = ParseEstimate(members.Object("input_share"), 1);
    verdict.gain = ParseGain(members.Object("gain"), verdict.input_share);
  } else if (members.Has("period")) {
    const ReportMembers period = members.Object("period");
    verdict.period = {.of = period.Text("of"),
                      .seconds = period.Number("seconds", 0, kMost),
                      .error = period.Number("error", 0, kMost)};
  }
  // Steps may have been seen without their waits.
  if (verdict.band == Band::kUnknown && !members.Has("steps")) return verdict;
  verdict.steps = static_cast<size_t>(members.Integer("steps", 0, int64_t{1} << 50));
  verdict.left_out = static_cast<size_t>(members.Integer("left_out", 0, int64_t{1} << 50));
  verdict.steps_per_second = members.Number("steps_per_s", 0, kMost);
  if (members.Has("beside")) {
    const ReportMembers beside = members.Object("beside");
    verdict.beside = {.share = beside.Number("share", 0, 1), .waits = beside.Number("waits", 0, 1)};
  }
  verdict.upper_bound = members.Flag("upper_bound");
  const ReportMembers parts = members.Object("breakdown");
  const auto share = [&](const char* name) { return parts.Number(name, 0, 1 + kRounding); };
  verdict.breakdown = {.input_wait = share("input_wait"),
                       .copies = share("copies"),
                       .device_copies = parts.Has("device_copies") ? share("device_copies") : 0,
                       .exchange = share("exchange"),
                       .device = share("device"),
                       .other = share("other")};
  return verdict;
}

std::vector<StepStretch> ParseStretches(const ReportMembers& members) {
  const std::vector<double> counts = members.Numbers("count", 1, kMost);
  std::vector<StepStretch> stretches(counts.size());
  for (size_t i = 0; i < counts.size(); ++i) stretches[i].steps = static_cast<size_t>(counts[i]);
  const auto read = [&](const char* name, double StepStretch::*what) {
    const std::vector<double> values = members.Numbers(name, 0, kMost);
    if (values.size() != counts.size()) members.Refuse("has another length than 'count'", name);
    for (size_t i = 0; i < values.size(); ++i) stretches[i].*what = values[i];
  };
  read("step_s", &StepStretch::step);
  read("input_wait_s", &StepStretch::input_wait);
  read("copies_s", &StepStretch::copies);
  if (members.Has("device_copies_s")) read("device_copies_s", &StepStretch::device_copies);
  read("exchange_s", &StepStretch::exchange);
  read("device_s", &StepStretch::device);
  read("other_s", &StepStretch::other);
  return stretches;
}

Document Parse(FileSystem& files, const std::string& path) {
  const ByteBuffer bytes = ReadWholeFile(files, path, kMostBytes);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (NestsTooDeep(text)) {
    throw Error(ErrorKind::kCorrupt,
                format("is JSON nested deeper than {} levels", kMostJsonLevels), {.path = path});
  }
  Document json = Document::parse(text, nullptr, false);
  if (json.is_discarded()) {
    throw Error(ErrorKind::kCorrupt, "is not valid JSON: damaged, or half written", {.path = path});
  }
  return json;
}

// Other programs may write files of this name, too.
void CheckKind(const Document& json, const std::string& path) {
  const bool is_report = json.is_object() && json.contains("version") && json.contains("job") &&
                         json.contains("verdict");
  if (!is_report) throw Error(ErrorKind::kCorrupt, "is not a report of recprobe", {.path = path});
  if (json["version"] == kReportVersion) return;
  throw Error(ErrorKind::kUnsupported,
              format("is a report of version {}, this recprobe reads {}", json["version"].dump(),
                     kReportVersion),
              {.path = path}, "read it with the recprobe that wrote it");
}

}  // namespace

double KeptReport::StepSeconds() const {
  double sum = 0;
  for (const std::vector<StepStretch>& trainer : steps) {
    for (const StepStretch& stretch : trainer) {
      sum += stretch.step * static_cast<double>(stretch.steps);
    }
  }
  return steps.empty() ? 0 : sum / static_cast<double>(steps.size());
}

KeptReport ReadReport(FileSystem& files, const std::string& path) {
  std::error_code code;  // ignored: reading the file reports the error
  const bool is_folder = std::filesystem::is_directory(path, code);
  KeptReport report{.path =
                        is_folder ? (std::filesystem::path(path) / "report.json").string() : path};
  const Document json = Parse(files, report.path);
  CheckKind(json, report.path);
  const ReportMembers members(json, report.path);
  report.recprobe = members.OptionalText("recprobe");
  report.job = ParseJob(members.Object("job"));
  report.verdict = ParseVerdict(members.Object("verdict"));
  report.cause = members.Object("verdict").Text("bottleneck");
  for (const ReportMembers& series : members.Objects("steps")) {
    std::vector<StepStretch> stretches = ParseStretches(series);
    if (!stretches.empty()) report.steps.push_back(std::move(stretches));
  }
  for (const ReportMembers& stage : members.Objects("stages")) {
    report.stages.push_back(
        {.name = stage.Text("name"), .share = stage.Number("share", 0, 1 + kRounding)});
  }
  return report;
}

}  // namespace recpack::probe
