#include "src/probe/causes/line_causes.h"

#include <algorithm>

#include "src/base/format.h"
#include "src/probe/causes/find_lines.h"

namespace recpack::probe {
namespace {

constexpr double kMost = 0.5;  // of the workers' time
// The least share that counts beside a model: a device that works for three quarters is the limit.
constexpr double kBesideModel = 0.25;

// Waits for an input of which only lines are known: the workers' function is the cause.
void NameFunction(const CodeLine& line, Verdict& verdict) {
  const bool waits = verdict.band == Band::kModerately || verdict.band == Band::kHighly;
  if (!waits || verdict.bottleneck != Bottleneck::kUnknown) return;
  if (line.role != kWorkerRole || line.share < kMost) return;
  verdict.bottleneck = Bottleneck::kFunction;
  verdict.evidence.clear();
  verdict.causes = {
      {.bottleneck = verdict.bottleneck, .saves = std::min(line.share, verdict.input_share.value)}};
  verdict.cure.clear();
  verdict.action = Action{.bottleneck = verdict.bottleneck, .saves = verdict.causes[0].saves};
}

// Nothing reports a wait for the input of a program that no known library loads: corrects the cause
// by the lines, by what the training thread does beside the model, and what it waits for.
void CorrectCause(const Evidence& evidence, const CodeLine& line, Verdict& verdict) {
  const bool may_be_wrong =
      verdict.bottleneck == Bottleneck::kModel || verdict.bottleneck == Bottleneck::kUnknown;
  if (verdict.band != Band::kUnknown || !may_be_wrong) return;
  const bool makes_batches = line.phase == "generator" || line.phase == "input";
  // Without steps: a call of a compiled one would look like the program's own code.
  const bool has_steps = !evidence.trainers.empty() || verdict.bottleneck == Bottleneck::kModel;
  const bool may_be_step = IsTrainer(line) && !makes_batches && !line.calling.empty();
  if (!has_steps && may_be_step) return;
  const double share =
      OfTraining(IsTrainer(line) ? line.share : WaitsForOthers(verdict.lines), verdict.lines);
  if (share < kBesideModel) return;
  verdict.bottleneck = !IsTrainer(line) ? Bottleneck::kFunction
                       : makes_batches  ? Bottleneck::kTrainingThread
                                        : Bottleneck::kHost;
  verdict.evidence.clear();
  if (!IsTrainer(line)) {
    verdict.evidence.push_back(
        format("the training thread waits {} of its time for what others hand over{}",
               Percent(share), Imports(verdict.lines) > 0 ? ", imports left out" : ""));
  }
  verdict.causes = {
      {.bottleneck = verdict.bottleneck, .saves = share, .evidence = verdict.evidence}};
  verdict.cure.clear();
  verdict.action = Action{.bottleneck = verdict.bottleneck, .saves = share};
}

}  // namespace

void FindCauseByLine(const Evidence& evidence, const CodeLine& line, Verdict& verdict) {
  NameFunction(line, verdict);
  CorrectCause(evidence, line, verdict);
}

}  // namespace recpack::probe
