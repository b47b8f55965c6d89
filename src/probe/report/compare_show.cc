#include <cmath>
#include <nlohmann/json.hpp>

#include "src/base/format.h"
#include "src/probe/report/compare.h"
#include "src/probe/util/estimate_json.h"
#include "src/probe/util/units.h"
#include "src/probe/util/wrapped.h"

namespace recpack::probe {
namespace {

using Json = nlohmann::ordered_json;

std::string Rate(double value) {
  if (std::isinf(value)) return "no limit";
  if (value >= 1000) return format("{:.0f}", value);
  return value < 1 ? format("{:.3g}", value) : format("{:.2f}", value);
}

std::string Figures(const Estimate& estimate, bool is_share) {
  if (!is_share) {
    return format("{} [{}, {}]", Rate(estimate.value), Rate(estimate.low), Rate(estimate.high));
  }
  return PercentRange(estimate);
}

std::string Changed(const Change& change) {
  if (!change.change) return "";
  const Estimate& by = *change.change;
  if (!change.is_share) {
    return format("x{:.3f} [{:.3f}, {}]", by.value, by.low,
                  std::isinf(by.high) ? "no limit" : format("{:.3f}", by.high));
  }
  return format("{:+.1f} points [{:+.1f}, {:+.1f}]", 100 * by.value, 100 * by.low, 100 * by.high);
}

std::string Said(const Change& change) {
  if (!change.sure()) return "within error";
  const bool more = change.change->value > (change.is_share ? 0 : 1);
  if (!change.is_share) return more ? "B is faster" : "B is slower";
  return more ? "more" : "less";
}

std::string Row(const std::string& what, const std::string& a, const std::string& b,
                const std::string& more = "") {
  std::string row = format("{:<20} {:<26} {:<26} {}", what, a, b, more);
  row.erase(row.find_last_not_of(' ') + 1);
  return row + "\n";
}

std::string Line(const Change& change) {
  return Row(change.what, Figures(change.a, change.is_share), Figures(change.b, change.is_share),
             Changed(change)) +
         (change.change ? format("{:<74} {}\n", "", Said(change)) : "");
}

Json ChangeJson(const Change& change) {
  return {
      {"what", change.what},
      {"a", ToJson(change.a)},
      {"b", ToJson(change.b)},
      {change.is_share ? "difference" : "ratio", change.change ? ToJson(*change.change) : Json()},
      {"sure", change.sure()}};
}

}  // namespace

std::string CompareText(const Comparison& comparison) {
  std::string text = Row("", "A", "B", "B against A");
  text += Row("verdict", comparison.verdict_a, comparison.verdict_b);
  text += Row("bottleneck", comparison.cause_a, comparison.cause_b);
  for (const Change& change : comparison.changes) text += Line(change);
  if (!comparison.stages.empty()) text += "\nstages, of the workers' time (without interval)\n";
  for (const auto& [a, b] : comparison.stages) {
    text += Row("  " + a.name, Percent(a.share), Percent(b.share));
  }
  if (!comparison.unlike.empty()) text += "\nnot the same\n";
  for (const Unlike& one : comparison.unlike) {
    text += Wrapped("  - ", format("{}: {} -> {}", one.what, one.a.empty() ? "none" : one.a,
                                   one.b.empty() ? "none" : one.b));
  }
  if (!comparison.notes.empty()) text += "\ncaveats\n";
  for (const std::string& note : comparison.notes) text += Wrapped("  - ", note);
  return text;
}

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
