#include <nlohmann/json.hpp>
#include <utility>

#include "src/base/format.h"
#include "src/probe/report/merge.h"
#include "src/probe/util/estimate_json.h"
#include "src/probe/util/wrapped.h"

namespace recpack::probe {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kColumns = 100;
constexpr size_t kMostName = 24;

// Four digits for small values: a test run loses seconds.
std::string Hours(double hours) {
  if (hours >= 1000) return format("{:.0f}", hours);
  return hours < 0.1 ? format("{:.4f}", hours) : format("{:.2f}", hours);
}

std::string Range(const Estimate& hours) {
  return format("{} [{}, {}]", Hours(hours.value), Hours(hours.low), Hours(hours.high));
}

std::string Name(const MergedJob& job) {
  std::string name = job.name.empty() ? "(no name)" : job.name;
  if (!job.user.empty()) name += format(" ({})", job.user);
  name = Printable(std::move(name));
  if (name.size() <= kMostName) return name;
  size_t end = kMostName - 3;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;  // UTF-8
  return name.substr(0, end) + "...";
}

std::string Ranks(const MergedJob& job) {
  if (job.ranks.empty()) return "1";
  return format("{}/{}", job.ranks.size(), job.world_size);
}

std::string Row(const MergedJob& job) {
  const std::string cause =
      job.slow_rank ? format("rank {}: {}", *job.slow_rank, job.cause) : job.cause;
  std::string row =
      format("{:<{}} {:>7} {:>8} {:<6} {:<24}", Name(job), kMostName, Ranks(job), Hours(job.hours),
             job.gpus ? "GPU" : "device", job.lost ? Range(*job.lost) : "unknown");
  const bool fits = row.size() + 1 + cause.size() <= kColumns;
  row += fits ? " " + cause + "\n" : "\n" + Wrapped("    cause: ", cause);
  if (!job.cure.empty()) row += Wrapped("    next: ", job.cure);
  for (const std::string& note : job.notes) row += Wrapped("    - ", note);
  return row;
}

std::string Total(const char* unit, const MergedHours& hours) {
  if (hours.hours <= 0) return "";
  const std::string total = format("total: {} {}-hours", Hours(hours.hours), unit);
  if (hours.known <= 0) return total + "\n";
  return format("{}; {} lost to input, {:.1f} % of those whose loss is known\n", total,
                Range(hours.lost), 100 * hours.lost.value / hours.known);
}

Json JobJson(const MergedJob& job) {
  return {{"name", job.name},
          {"user", job.user},
          {"hosts", job.hosts},
          {"ranks", job.ranks},
          {"running", job.running},
          {"world_size", job.world_size},
          {"unit", job.gpus ? "GPU-hours" : "device-hours"},
          {"hours", job.hours},
          {"lost", job.lost ? ToJson(*job.lost) : Json()},
          {"verdict", job.verdict},
          {"cause", job.cause},
          {"cure", job.cure.empty() ? Json() : Json(job.cure)},
          {"slow_rank", job.slow_rank ? Json(*job.slow_rank) : Json()},
          {"notes", job.notes},
          {"reports", job.reports}};
}

Json HoursJson(const MergedHours& hours) {
  return {{"hours", hours.hours}, {"known", hours.known}, {"lost", ToJson(hours.lost)}};
}

}  // namespace

std::string MergeText(const Merge& merge) {
  std::string text = format("{:<{}} {:>7} {:>15} {:<24} {}\n", "job", kMostName, "ranks", "hours",
                            "lost to input [95 %]", "cause");
  for (const MergedJob& job : merge.jobs) text += Row(job);
  text += format("\n{} job{}, {} report{}\n", merge.jobs.size(), merge.jobs.size() == 1 ? "" : "s",
                 merge.reports, merge.reports == 1 ? "" : "s");
  if (merge.running() > 0) {
    text += format("{} program{} on\n", merge.running(), merge.running() == 1 ? " goes" : "s go");
  }
  text += Total("GPU", merge.gpus) + Total("device", merge.devices);
  if (merge.unknown > 0) {
    text += format("{} job{} with unknown loss: no waits for input were seen\n", merge.unknown,
                   merge.unknown == 1 ? "" : "s");
  }
  if (!merge.left_out.empty()) text += "\nleft out\n";
  for (const LeftOut& one : merge.left_out) {
    text += Wrapped("  - ", format("{}: {}", one.path, one.reason));
  }
  return text;
}

std::string MergeJson(const Merge& merge) {
  Json json = {
      {"jobs", Json::array()},
      {"reports", merge.reports},
      {"unknown", merge.unknown},
      {"running", merge.running()},
      {"total", {{"GPU-hours", HoursJson(merge.gpus)}, {"device-hours", HoursJson(merge.devices)}}},
      {"left_out", Json::array()}};
  for (const MergedJob& job : merge.jobs) json["jobs"].push_back(JobJson(job));
  for (const LeftOut& one : merge.left_out) {
    json["left_out"].push_back({{"path", one.path}, {"reason", one.reason}});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace recpack::probe
