#include <cmath>

#include "src/base/format.h"
#include "src/probe/util/percent.h"
#include "src/probe/util/wrapped.h"
#include "src/probe/verdict/show.h"

namespace recpack::probe {
namespace {

constexpr size_t kBar = 40;

std::string Range(const Estimate& estimate) {
  return format("{:.1f} % [{:.1f}, {:.1f}]", 100 * estimate.value, 100 * estimate.low,
                100 * estimate.high);
}

std::string GainText(const Estimate& gain) {
  if (std::isfinite(gain.high)) return format("+{} steps/s", Range(gain));
  if (!std::isfinite(gain.low)) return "more steps/s without limit";
  return format("{} [+{:.1f} %, no limit] steps/s",
                std::isfinite(gain.value) ? format("+{:.1f} %", 100 * gain.value) : "no limit",
                100 * gain.low);
}

std::string Line(const char* name, double share) {
  const auto filled = static_cast<size_t>(std::lround(std::min(share, 1.0) * kBar));
  return format("  {:<22} {:>7}  {}\n", name, Percent(share), std::string(filled, '#'));
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

std::string List(const char* title, const std::vector<std::string>& lines) {
  std::string text = lines.empty() ? "" : format("\n{}\n", title);
  for (const std::string& line : lines) text += Wrapped("  - ", line);
  return text;
}

}  // namespace

std::string UnseenText(const Unseen& unseen) {
  return format("{} could not be seen: {}{}{}", unseen.what, unseen.reason,
                unseen.right.empty() ? "" : "; needed: ", unseen.right);
}

std::string VerdictText(const Verdict& verdict) {
  std::string text = format("verdict: {}\n", Headline(verdict));
  if (verdict.band != Band::kUnknown) {
    text += format("  waits for input{}: {} of step time (95 % interval)\n",
                   verdict.upper_bound ? "" : " that no device work covers",
                   Range(verdict.input_share));
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
  if (verdict.steps > 0) text += BreakdownText(verdict.breakdown);
  text += List("evidence", verdict.evidence);
  if (!verdict.cure.empty()) text += "\n" + Wrapped("next: ", verdict.cure);
  text += List("hints of older rules, which decide nothing", verdict.hints);
  text += List("not seen, or against it", verdict.notes);
  return text;
}

}  // namespace recpack::probe
