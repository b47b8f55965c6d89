#include <nlohmann/json.hpp>

#include "src/probe/util/estimate_json.h"
#include "src/probe/verdict/show.h"

namespace recpack::probe {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::string VerdictJson(const Verdict& verdict) {
  Json json = {{"verdict", BandName(verdict.band)}};
  if (verdict.band != Band::kUnknown) {
    json["input_share"] = Of(verdict.input_share);
    json["gain"] = Of(verdict.gain);
  }
  if (verdict.steps > 0) {
    json["steps"] = verdict.steps;
    json["left_out"] = verdict.left_out;
    json["steps_per_s"] = verdict.steps_per_second;
    json["upper_bound"] = verdict.upper_bound;
    json["breakdown"] = {{"input_wait", verdict.breakdown.input_wait},
                         {"copies", verdict.breakdown.copies},
                         {"device_copies", verdict.breakdown.device_copies},
                         {"exchange", verdict.breakdown.exchange},
                         {"device", verdict.breakdown.device},
                         {"other", verdict.breakdown.other}};
  } else if (verdict.period) {
    json["period"] = {{"of", verdict.period->of},
                      {"seconds", verdict.period->seconds},
                      {"error", verdict.period->error}};
  }
  json["bottleneck"] = BottleneckName(verdict.bottleneck);
  if (verdict.rank) json["rank"] = *verdict.rank;
  json["evidence"] = verdict.evidence;
  if (!verdict.cure.empty()) json["cure"] = verdict.cure;
  json["hints"] = verdict.hints;
  json["notes"] = verdict.notes;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace recpack::probe
