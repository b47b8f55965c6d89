#include <cmath>

#include "recpack/probe/show.h"
#include "src/base/format.h"
#include "src/probe/percent.h"

namespace recpack {
namespace {

constexpr size_t kColumns = 100;
constexpr size_t kBar = 40;

std::string Range(const Estimate& estimate) {
  return format("{:.1f} % [{:.1f}, {:.1f}]", 100 * estimate.value, 100 * estimate.low,
                100 * estimate.high);
}

// A paragraph behind a mark, broken at spaces.
std::string Wrapped(const std::string& mark, const std::string& text) {
  std::string lines, line = mark;
  const std::string indent(mark.size(), ' ');
  for (size_t at = 0; at < text.size();) {
    const size_t space = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, space - at);
    if (line.size() + 1 + word.size() > kColumns && line.size() > indent.size()) {
      lines += line + "\n";
      line = indent;
    }
    line += (line.size() > indent.size() ? " " : "") + word;
    at = space + 1;
  }
  return lines + line + "\n";
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
    text += format(
        "  without them: +{} steps/s, on {:.2f} steps/s; {} steps counted, the first {} "
        "left out\n",
        Range(verdict.gain), verdict.steps_per_second, verdict.steps, verdict.left_out);
    text += "\nwhere a step's time goes\n";
    text += Line("input wait", verdict.breakdown.input_wait);
    text += Line("copies to the device", verdict.breakdown.copies);
    text += Line("exchange", verdict.breakdown.exchange);
    text += Line("device", verdict.breakdown.device);
    text += Line("other", verdict.breakdown.other);
  }
  if (!verdict.evidence.empty()) text += "\nevidence\n";
  for (const std::string& line : verdict.evidence) text += Wrapped("  - ", line);
  if (!verdict.cure.empty()) text += "\n" + Wrapped("next: ", verdict.cure);
  if (!verdict.notes.empty()) text += "\nnot seen, or against it\n";
  for (const std::string& line : verdict.notes) text += Wrapped("  - ", line);
  return text;
}

}  // namespace recpack
