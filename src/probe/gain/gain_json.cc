#include <nlohmann/json.hpp>

#include "src/probe/gain/gain.h"

namespace recpack::probe {
namespace {

using Json = nlohmann::ordered_json;

Json Of(const Estimate& estimate) {
  return {{"value", estimate.value}, {"low", estimate.low}, {"high", estimate.high}};
}

}  // namespace

std::string GainJson(const GainResult& result) {
  Json json = {{"rounds", result.rounds},
               {"trainers", result.trainers},
               {"block_steps", result.block_steps},
               {"measured_steps", result.measured_steps}};
  if (result.rounds > 0) {
    json["gain"] = Of(result.gain);
    json["ratio"] = Of(result.ratio);
    json["starvation"] = Of(result.starvation);
    json["interference"] = Of(result.interference);
    json["synthetic_over_replay"] = Of(result.synthetic);
    for (size_t kind = 0; kind < GainPlan::kKinds; ++kind) {
      json["samples_per_s"][LoaderModeName(static_cast<LoaderMode>(kind))] = Of(result.rates[kind]);
    }
  }
  json["notes"] = result.notes;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace recpack::probe
