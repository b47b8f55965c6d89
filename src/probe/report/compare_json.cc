#include <nlohmann/json.hpp>

#include "src/probe/report/compare.h"
#include "src/probe/util/estimate_json.h"

namespace recpack::probe {
namespace {

using Json = nlohmann::ordered_json;

Json ChangeJson(const Change& change) {
  return {{"what", change.what},
          {"a", Of(change.a)},
          {"b", Of(change.b)},
          {change.is_share ? "difference" : "ratio", change.change ? Of(*change.change) : Json()},
          {"sure", change.sure()}};
}

}  // namespace

std::string CompareJson(const Comparison& comparison) {
  Json json = {{"verdict", {{"a", comparison.verdict_a}, {"b", comparison.verdict_b}}},
               {"bottleneck", {{"a", comparison.cause_a}, {"b", comparison.cause_b}}},
               {"changes", Json::array()},
               {"stages", Json::array()},
               {"not_the_same", Json::array()},
               {"notes", comparison.notes}};
  for (const Change& change : comparison.changes) json["changes"].push_back(ChangeJson(change));
  for (const auto& [a, b] : comparison.stages) {
    json["stages"].push_back({{"name", a.name}, {"a", a.share}, {"b", b.share}});
  }
  for (const Unlike& one : comparison.unlike) {
    json["not_the_same"].push_back({{"what", one.what}, {"a", one.a}, {"b", one.b}});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace recpack::probe
