#include <cmath>
#include <nlohmann/json.hpp>

#include "src/probe/stages/stage_use.h"
#include "src/probe/util/units.h"
#include "src/probe/util/wrapped.h"

namespace recpack::probe {
namespace {

using Json = nlohmann::ordered_json;

std::string Number(const Reading<double>& reading) {
  return reading ? NumberText(*reading) : std::string("-");
}

// JSON cannot represent infinity.
Reading<double> Finite(double value) {
  if (std::isfinite(value)) return value;
  return Unavailable{"nothing that was measured limits it"};
}

Json ToJson(const Reading<double>& reading) {
  if (!reading) return {{"unavailable", reading.reason()}};
  return *reading;
}

}  // namespace

std::string LoaderUseText(const LoaderUse& use) {
  std::string text = format("the loader: {} samples/s by {} thread{} on {} cores\n",
                            NumberText(use.per_second), use.threads, use.threads == 1 ? "" : "s",
                            use.cores > 0 ? std::to_string(use.cores) : "?");
  text += format("  {:<10}{:>8}{:>18}{:>18}{:>10}\n", "stage", "time", "samples/s alone",
                 "ceiling here", "of it");
  bool exceeded = false;
  for (const StageUse& each : use.stages) {
    const auto share = each.ceiling_share();
    text += format("  {:<10}{:>8}{:>18}{:>18}{:>10}\n", StageName(each.stage), Percent(each.share),
                   Number(each.rate), Number(each.ceiling),
                   !share                   ? "-"
                   : each.exceeds_ceiling() ? "above"
                                            : Percent(*share, 0));
    exceeded |= each.exceeds_ceiling();
  }
  text += format("  {:<10}{:>8}\n", "no room", Percent(use.room_share));
  if (exceeded) {
    text += Wrapped("  ",
                    "above: the bare call was slower when it was measured; it is a reference, "
                    "not a ceiling, until `recprobe doctor` measures it anew");
  }
  if (!use.next.empty()) text += Wrapped("  ->", use.next);
  if (!use.what_if.empty()) {
    text += format("\nwhat if{:>53}{:>22}\n", "loader alone", "training, samples/s");
  }
  for (const WhatIf& each : use.what_if) {
    text += format("  {:<44}{:>14}{:>22}\n", each.change, NumberText(each.loader),
                   NumberText(each.training));
  }
  return text + Wrapped("  (", use.ceilings + ")");
}

std::string LoaderUseJson(const LoaderUse& use) {
  Json json = {{"process", use.process},          {"number", use.number},
               {"threads", use.threads},          {"cores", use.cores},
               {"samples_per_s", use.per_second}, {"consumer_per_s", use.consumer_per_second},
               {"wait_for_room", use.room_share}, {"stages", Json::array()}};
  for (const StageUse& each : use.stages) {
    json["stages"].push_back({{"name", StageName(each.stage)},
                              {"share", each.share},
                              {"rate", ToJson(each.rate)},
                              {"ceiling", ToJson(each.ceiling)},
                              {"ceiling_share", ToJson(each.ceiling_share())},
                              {"next", each.next}});
  }
  json["next"] = use.next;
  json["what_if"] = Json::array();
  for (const WhatIf& each : use.what_if) {
    json["what_if"].push_back({{"change", each.change},
                               {"loader_per_s", ToJson(Finite(each.loader))},
                               {"training_per_s", ToJson(Finite(each.training))}});
  }
  json["ceilings"] = use.ceilings;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace recpack::probe
