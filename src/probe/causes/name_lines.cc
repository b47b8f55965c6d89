#include "src/probe/causes/name_lines.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "src/base/format.h"
#include "src/probe/causes/find_lines.h"
#include "src/probe/causes/line_causes.h"
#include "src/probe/share/hidden_ranks.h"
#include "src/probe/verdict/line_text.h"

namespace recpack::probe {
namespace {

constexpr std::string_view kTransform = "transform ";

std::string Subject(const CodeLine& line) {
  if (line.phase.starts_with(kTransform)) return line.phase.substr(kTransform.size());
  return line.function;
}

// Where to look: a transform of a library is named where the program makes it.
std::string CausePlace(const CodeLine& line, const std::vector<CodeLine>& lines) {
  const bool of_library =
      line.calling.ends_with(Subject(line)) || line.file.find("-packages") != std::string::npos;
  if (!of_library || line.made.empty()) return PlaceText(line, lines);
  return line.made.substr(line.made.rfind('/') + 1);
}

std::string CauseText(const CodeLine& line, const std::vector<CodeLine>& lines) {
  std::string text =
      format("`{}` at {} takes {} of {} time, {}", Subject(line), CausePlace(line, lines),
             Percent(line.share), OwnerText(line), DoingText(line));
  if (!line.calling.empty() && !line.calling.ends_with(Subject(line))) {
    text += format(", calling {}", line.calling);
  }
  return text;
}

std::string CureOfLine(const CodeLine& line, const std::vector<CodeLine>& lines,
                       const Verdict& verdict) {
  const std::string place = format("`{}` ({})", Subject(line), CausePlace(line, lines));
  std::string own = format("make {} faster", place);
  if (line.phase.starts_with(kTransform)) {
    own = format(
        "move {} out of the workers: onto the device, for whole batches, or into the "
        "data, once before the training",
        place);
  } else if (line.blocked >= 0.5) {
    own = format("let {} wait less for its {}: do it ahead, in more workers, or once", place,
                 line.waits);
  }
  return verdict.cure.empty() ? own : format("{}; else: {}", own, verdict.cure);
}

// The process of the rank that the others wait for.
std::optional<int> SlowProcess(const Evidence& evidence, const Verdict& verdict) {
  if (verdict.bottleneck != Bottleneck::kSlowRank || !verdict.rank) return {};
  for (size_t i = 0; i < evidence.trainers.size(); ++i) {
    if (RankNumber(evidence, evidence.trainers, i) == *verdict.rank) {
      return evidence.trainers[i].process;
    }
  }
  return {};
}

}  // namespace

void NameLines(const Evidence& evidence, Verdict& verdict) {
  const auto slow = SlowProcess(evidence, verdict);
  verdict.lines = verdict.input_of ? evidence.lines_of.at(*verdict.input_of) : evidence.lines;
  const auto cause = verdict.line = slow ? FindOwnLine(verdict.lines, *slow) : FindLine(verdict);
  if (!cause) return;
  FindCauseByLine(evidence, *cause, verdict);
  // Where others take the processors, the line is only where that hurts.
  const bool others =
      verdict.bottleneck == Bottleneck::kInterference || verdict.bottleneck == Bottleneck::kQuota;
  const auto at = others ? verdict.evidence.end() : verdict.evidence.begin();
  verdict.evidence.insert(
      at, CauseText(*cause, verdict.lines) + (slow ? "; no other trainer runs that" : ""));
  // Nobody waits for the makers of a training that its model limits.
  if (others || (verdict.bottleneck == Bottleneck::kModel && !IsTrainer(*cause))) return;
  verdict.cure = CureOfLine(*cause, verdict.lines, verdict);
  if (verdict.causes.empty()) return;
  Cause& first = verdict.causes.front();
  // Workers save more than a faster line.
  const bool has_no_workers =
      std::ranges::any_of(evidence.settings, &InputSettings::has_no_workers);
  if (first.bottleneck == Bottleneck::kTrainingThread && has_no_workers) {
    verdict.cure = first.cure;
    return;
  }
  first.where = format("{} ({})", CausePlace(*cause, verdict.lines), Subject(*cause));
  // A cause without a usual cure, or one that was found by its line.
  if (!verdict.action && first.bottleneck != Bottleneck::kModel) {
    verdict.action = Action{.bottleneck = first.bottleneck, .saves = first.saves};
  }
  // A setting that saves as much lies elsewhere.
  if (verdict.action && verdict.action->bottleneck == first.bottleneck) {
    verdict.action->text = verdict.cure;
    verdict.action->where = first.where;
  }
}

}  // namespace recpack::probe
