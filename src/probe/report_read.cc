#include <filesystem>
#include <nlohmann/json.hpp>

#include "recpack/base/error.h"
#include "recpack/probe/report.h"
#include "src/base/format.h"
#include "src/probe/clock_text.h"

namespace recpack {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kMostBytes = uint64_t{1} << 30;

template <typename T>
std::optional<T> Maybe(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || found->is_null()) return {};
  return found->get<T>();
}

std::string Text(const Json& json, const char* name) {
  return Maybe<std::string>(json, name).value_or("");
}

std::vector<std::string> Texts(const Json& json, const char* name) {
  return Maybe<std::vector<std::string>>(json, name).value_or(std::vector<std::string>());
}

Estimate EstimateOf(const Json& json) {
  return {json.at("value").get<double>(), json.at("low").get<double>(),
          json.at("high").get<double>()};
}

Job JobOf(const Json& json) {
  Job job{.name = Text(json, "name"),
          .command = Texts(json, "command"),
          .host = Text(json, "host"),
          .user = Text(json, "user"),
          .rank = Maybe<int>(json, "rank"),
          .world_size = Maybe<int>(json, "world_size"),
          .process = Maybe<int>(json, "process").value_or(0),
          .begin = ClockTime(Text(json, "begin")),
          .seconds = json.at("seconds").get<double>()};
  job.exit_code = Maybe<int>(json, "exit_code");
  job.gpus = Maybe<int>(json, "gpus");
  return job;
}

// The value whose name it is, of 0 to `last`; the first where none has that name.
template <typename T>
T Named(const std::string& name, T last, const char* (*name_of)(T) noexcept) {
  for (size_t i = 0; i <= static_cast<size_t>(last); ++i) {
    if (name == name_of(static_cast<T>(i))) return static_cast<T>(i);
  }
  return static_cast<T>(0);
}

Breakdown BreakdownOf(const Json& json) {
  const auto share = [&](const char* name) { return Maybe<double>(json, name).value_or(0); };
  return {.input_wait = share("input_wait"),
          .copies = share("copies"),
          .exchange = share("exchange"),
          .device = share("device"),
          .other = share("other")};
}

Verdict VerdictOf(const Json& json) {
  Verdict verdict;
  verdict.band = Named(json.at("verdict").get<std::string>(), Band::kHighly, BandName);
  if (json.contains("input_share")) {
    verdict.input_share = EstimateOf(json.at("input_share"));
    verdict.gain = EstimateOf(json.at("gain"));
    verdict.steps = json.at("steps").get<size_t>();
    verdict.left_out = json.at("left_out").get<size_t>();
    verdict.steps_per_second = json.at("steps_per_s").get<double>();
    verdict.upper_bound = json.at("upper_bound").get<bool>();
    verdict.breakdown = BreakdownOf(json.at("breakdown"));
  }
  verdict.bottleneck = Named(Text(json, "bottleneck"), Bottleneck::kModel, BottleneckName);
  verdict.rank = Maybe<size_t>(json, "rank");
  verdict.evidence = Texts(json, "evidence");
  verdict.cure = Text(json, "cure");
  verdict.notes = Texts(json, "notes");
  return verdict;
}

KeptReport ReportOf(const Json& json, const std::string& path) {
  const int version = json.at("version").get<int>();
  if (version > kReportVersion) {
    throw Error(ErrorKind::kUnsupported,
                format("is of version {}, and this recprobe knows {}", version, kReportVersion),
                {.path = path}, "read it with a recprobe as new as the one that wrote it");
  }
  return {JobOf(json.at("job")), VerdictOf(json.at("verdict")), Texts(json, "unseen")};
}

}  // namespace

KeptReport ReportFromJson(std::string_view text, const std::string& path) {
  try {
    return ReportOf(Json::parse(text), path);
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::kCorrupt, std::string("is no report of recprobe: ") + error.what(),
                {.path = path});
  }
}

KeptReport ReadReport(const std::string& path) {
  const std::filesystem::path named(path);
  const std::string file = std::filesystem::is_directory(named) ? named / "report.json" : named;
  const ByteBuffer bytes = ReadWholeFile(PosixFiles(), file, kMostBytes);
  return ReportFromJson({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file);
}

}  // namespace recpack
