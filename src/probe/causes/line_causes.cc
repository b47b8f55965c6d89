#include "src/probe/causes/line_causes.h"

#include <algorithm>
#include <utility>

#include "src/base/format.h"
#include "src/probe/causes/find_lines.h"

namespace recpack::probe {
namespace {

constexpr double kMost = 0.5;  // of the workers' time
// The least share that counts beside a model: a device that works for three quarters is the limit.
constexpr double kBesideModel = 0.25;
constexpr double kLeastOfModel = 0.02;  // of the training thread's time, if it is seen at all

// Makes it the one cause; the action is chosen by its line.
void SetCause(Cause cause, Verdict& verdict) {
  verdict.bottleneck = cause.bottleneck;
  verdict.evidence = cause.evidence;
  verdict.causes = {std::move(cause)};
  verdict.cure.clear();
  verdict.action.reset();
}

// Waits for an input of which only lines are known: the workers' function is the cause.
void NameFunction(const CodeLine& line, Verdict& verdict) {
  const bool waits = verdict.band == Band::kModerately || verdict.band == Band::kHighly;
  if (!waits || verdict.bottleneck != Bottleneck::kUnknown) return;
  if (line.role != kWorkerRole || line.share < kMost) return;
  SetCause({.bottleneck = Bottleneck::kFunction,
            .saves = std::min(line.share, verdict.input_share.value),
            .evidence = {}},
           verdict);
}

// Whether the training thread may be in a step at a line that nothing tells is one: a call of a
// compiled step would look like the program's own code, and it is waited for elsewhere.
bool MayBeStep(const CodeLine& line, const std::vector<CodeLine>& lines) {
  if (line.calling.empty()) return false;
  double model = 0;
  for (const CodeLine& other : lines) {
    if (IsTrainer(other) && other.phase == "model") model += other.share;
  }
  const bool knows_model = model >= kLeastOfModel;
  return !knows_model || line.blocked > 0.5;
}

// Nothing reports a wait for the input of a program that no known library loads: corrects the cause
// by the lines, by what the training thread does beside the model, and what it waits for.
void CorrectCause(const Evidence& evidence, const CodeLine& line, Verdict& verdict) {
  const bool may_be_wrong =
      verdict.bottleneck == Bottleneck::kModel || verdict.bottleneck == Bottleneck::kUnknown;
  if (verdict.band != Band::kUnknown || !may_be_wrong) return;
  const bool makes_batches = line.phase == "generator" || line.phase == "input";
  const bool has_steps = !evidence.trainers.empty() || verdict.bottleneck == Bottleneck::kModel;
  const bool is_own = IsTrainer(line) && !makes_batches;
  if (!has_steps && is_own && MayBeStep(line, verdict.lines)) return;
  const double share =
      OfTraining(IsTrainer(line) ? line.share : WaitsForOthers(verdict.lines), verdict.lines);
  if (share < kBesideModel) return;
  Cause cause{.bottleneck = !IsTrainer(line) ? Bottleneck::kFunction
                            : makes_batches  ? Bottleneck::kTrainingThread
                                             : Bottleneck::kHost,
              .saves = share,
              .evidence = {}};
  if (!IsTrainer(line)) {
    cause.evidence.push_back(
        format("the training thread waits {} of its time for what others hand over{}",
               Percent(share), Imports(verdict.lines) > 0 ? ", imports left out" : ""));
  }
  SetCause(std::move(cause), verdict);
}

}  // namespace

void FindCauseByLine(const Evidence& evidence, const CodeLine& line, Verdict& verdict) {
  NameFunction(line, verdict);
  CorrectCause(evidence, line, verdict);
}

}  // namespace recpack::probe
