#include <nlohmann/json.hpp>

#include "src/probe/report/merge.h"
#include "src/probe/util/estimate_json.h"

namespace recpack::probe {
namespace {

using Json = nlohmann::ordered_json;

Json JobJson(const MergedJob& job) {
  return {{"name", job.name},
          {"user", job.user},
          {"hosts", job.hosts},
          {"ranks", job.ranks},
          {"world_size", job.world_size},
          {"unit", job.gpus ? "GPU-hours" : "device-hours"},
          {"hours", job.hours},
          {"lost", job.lost ? Of(*job.lost) : Json()},
          {"verdict", job.verdict},
          {"cause", job.cause},
          {"cure", job.cure.empty() ? Json() : Json(job.cure)},
          {"slow_rank", job.slow_rank ? Json(*job.slow_rank) : Json()},
          {"notes", job.notes},
          {"reports", job.reports}};
}

Json HoursJson(const MergedHours& hours) {
  return {{"hours", hours.hours}, {"known", hours.known}, {"lost", Of(hours.lost)}};
}

}  // namespace

std::string MergeJson(const Merge& merge) {
  Json json = {
      {"jobs", Json::array()},
      {"reports", merge.reports},
      {"unknown", merge.unknown},
      {"total", {{"GPU-hours", HoursJson(merge.gpus)}, {"device-hours", HoursJson(merge.devices)}}},
      {"left_out", Json::array()}};
  for (const MergedJob& job : merge.jobs) json["jobs"].push_back(JobJson(job));
  for (const LeftOut& one : merge.left_out) {
    json["left_out"].push_back({{"path", one.path}, {"reason", one.reason}});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace recpack::probe
