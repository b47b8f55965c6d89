#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "src/base/format.h"
#include "src/probe/util/estimate_json.h"
#include "src/probe/util/units.h"
#include "src/probe/util/wrapped.h"
#include "src/probe/verdict/line_text.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kBar = 40;

// "+25.0 % [24.0, 26.0] steps/s", "over 50 times as many steps/s".
std::string GainText(const Estimate& gain) {
  constexpr double kMost = kMostSpeedup - 1;
  const auto bounded = [](double one) {
    return one < kMost ? "+" + Percent(one) : format("over {:.0f}x", kMostSpeedup);
  };
  if (gain.low >= kMost) return format("over {:.0f} times as many steps/s", kMostSpeedup);
  if (gain.value >= kMost || gain.high >= kMost) {
    return format("{} [{}, {}] steps/s", bounded(gain.value), bounded(gain.low),
                  bounded(gain.high));
  }
  return format("+{} steps/s", PercentRange(gain));
}

std::string Line(const char* name, double share) {
  const auto filled = static_cast<size_t>(std::lround(std::min(share, 1.0) * kBar));
  return format("  {:<22} {:>7}  {}\n", name, Percent(share), std::string(filled, '#'));
}

Json SavesJson(const std::optional<double>& saves) { return saves ? Json(*saves) : Json(); }

Json ToJson(const Cause& cause) {
  Json json = {{"cause", BottleneckName(cause.bottleneck)},
               {"saves", SavesJson(cause.saves)},
               {"evidence", cause.evidence},
               {"cure", cause.cure}};
  if (!cause.where.empty()) json["where"] = cause.where;
  return json;
}

Json ToJson(const Action& action) {
  Json json = {{"cause", BottleneckName(action.bottleneck)},
               {"text", action.text},
               {"saves", SavesJson(action.saves)}};
  if (!action.where.empty()) json["where"] = action.where;
  return json;
}

Json ToJson(const CodeLine& line) {
  Json json = {{"process", line.process}, {"role", line.role},   {"phase", line.phase},
               {"file", line.file},       {"line", line.line},   {"function", line.function},
               {"calling", line.calling}, {"share", line.share}, {"blocked", line.blocked}};
  if (!line.waits.empty()) json["waits"] = line.waits;
  if (!line.made.empty()) json["made"] = line.made;
  return json;
}

std::string Headline(const Verdict& verdict) {
  std::string headline = BandName(verdict.band);
  if (verdict.band == Band::kUnknown) return headline;
  if (verdict.bottleneck != Bottleneck::kUnknown)
    headline += format(": {}", BottleneckName(verdict.bottleneck));
  const bool slow_rank = verdict.bottleneck == Bottleneck::kSlowRank;
  if (verdict.rank) headline += format("{} {}", slow_rank ? "" : ", rank", *verdict.rank);
  return headline;
}

std::string BreakdownText(const Breakdown& breakdown) {
  std::string text = "\nwhere a step's time goes\n";
  text += Line("input wait", breakdown.input_wait);
  text += Line("copies to the device", breakdown.copies);
  if (breakdown.device_copies > 0) text += Line("copies on devices", breakdown.device_copies);
  text += Line("exchange", breakdown.exchange);
  text += Line("device", breakdown.device);
  return text + Line("other", breakdown.other);
}

// What curing each cause alone would gain; empty if nothing would.
std::string CausesText(const std::vector<Cause>& causes) {
  std::string text;
  for (size_t i = 0; i < causes.size(); ++i) {
    const Cause& cause = causes[i];
    if (cause.saves && *cause.saves <= 0) continue;
    text += format("  {}. {:<27} {}\n", i + 1, BottleneckName(cause.bottleneck),
                   cause.saves ? format("{:>7} of step time, {}", Percent(*cause.saves),
                                        SpeedupText(*cause.saves))
                               : "gain not known");
    if (!cause.where.empty()) text += format("     at {}\n", cause.where);
  }
  return text.empty() ? "" : "\ncauses, and what curing each alone would save\n" + text;
}

std::string List(const char* title, const std::vector<std::string>& lines) {
  std::string text = lines.empty() ? "" : format("\n{}\n", title);
  for (const std::string& line : lines) text += Wrapped("  - ", line);
  return text;
}

std::string BesideText(const Beside& beside) {
  std::string text = format("beside the steps: {:.1f} % of the time (evaluations, checkpoints)",
                            100 * beside.share);
  if (beside.waits >= Verdict::kWorthTelling) {
    text += format(", {:.1f} % waits for the input of evaluations", 100 * beside.waits);
  }
  if (beside.waits >= Verdict::kWorthNaming) {
    text += ": evaluate less often, or keep the workers of its loader (persistent_workers=True)";
  }
  return text;
}

}  // namespace

const char* BandName(Band band) noexcept {
  constexpr const char* kNames[] = {"unknown", "undecided", "not input-bound",
                                    "moderately input-bound", "highly input-bound"};
  static_assert(std::size(kNames) == kBands);
  return kNames[static_cast<size_t>(band)];
}

std::string UnseenText(const Unseen& unseen) {
  return format("{} could not be seen: {}{}{}", unseen.what, unseen.reason,
                unseen.right.empty() ? "" : "; needed: ", unseen.right);
}

std::string VerdictText(const Verdict& verdict) {
  std::string text = format("verdict: {}\n", Headline(verdict));
  if (verdict.band != Band::kUnknown) {
    text += format("  waits for input{}: {} of step time (95 % interval)\n",
                   verdict.upper_bound ? "" : " that no device work covers",
                   PercentRange(verdict.input_share));
    text +=
        format("  without them: {}, on {:.2f} steps/s; {} steps counted, the first {} left out\n",
               GainText(verdict.gain), verdict.steps_per_second, verdict.steps, verdict.left_out);
  } else if (verdict.steps > 0) {
    text += format("  {:.2f} steps/s; {} steps counted, the first {} left out\n",
                   verdict.steps_per_second, verdict.steps, verdict.left_out);
  } else if (verdict.period) {
    text += format("  {} repeats every {:.4g} +- {:.2g} s: that may be a step\n",
                   verdict.period->of, verdict.period->seconds, verdict.period->error);
  }
  if (verdict.beside) text += Wrapped("  ", BesideText(*verdict.beside));
  if (verdict.steps > 0) text += BreakdownText(verdict.breakdown);
  text += CausesText(verdict.causes);
  text += List("evidence", verdict.evidence);
  text += WhereText(verdict.lines);
  if (verdict.action) {
    text += "\n" + Wrapped("next: ", ActionText(*verdict.action));
  } else if (!verdict.cure.empty()) {
    text += "\n" + Wrapped("next: ", verdict.cure);
  }
  text += List("hints from rules of thumb (not used for the verdict)", verdict.hints);
  text += List("caveats and missing data", verdict.notes);
  return text;
}

std::string VerdictJson(const Verdict& verdict) {
  Json json = {{"verdict", BandName(verdict.band)}};
  if (verdict.band != Band::kUnknown) {
    json["input_share"] = ToJson(verdict.input_share);
    json["gain"] = ToJson(verdict.gain);
  }
  if (verdict.steps > 0) {
    json["steps"] = verdict.steps;
    json["left_out"] = verdict.left_out;
    json["steps_per_s"] = verdict.steps_per_second;
    if (verdict.beside) {
      json["beside"] = {{"share", verdict.beside->share}, {"waits", verdict.beside->waits}};
    }
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
  json["causes"] = Json::array();
  for (const Cause& cause : verdict.causes) json["causes"].push_back(ToJson(cause));
  json["evidence"] = verdict.evidence;
  if (verdict.line) json["line"] = ToJson(*verdict.line);
  for (const CodeLine& line : verdict.lines) json["lines"].push_back(ToJson(line));
  if (!verdict.cure.empty()) json["cure"] = verdict.cure;
  if (verdict.action) json["action"] = ToJson(*verdict.action);
  json["hints"] = verdict.hints;
  json["notes"] = verdict.notes;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace recpack::probe
