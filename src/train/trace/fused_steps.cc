#include "src/train/trace/fused_steps.h"

#include <algorithm>

namespace recpack::train {
namespace {

bool StepReads(const TracedStep& step, const void* data) {
  if (const auto* concatenation = std::get_if<TracedConcatenation>(&step.what)) {
    return std::ranges::any_of(concatenation->parts,
                               [&](const Tensor& part) { return part.data == data; });
  }
  const auto* norm = std::get_if<TracedNorm>(&step.what);
  return step.x.data == data || (norm && norm->residual == data);
}

// The norm that is the only reader of a convolution's output, or null.
const TracedStep* FindNorm(const Trace& trace, const TracedStep& convolution) {
  if (!std::holds_alternative<TracedConvolution>(convolution.what)) return nullptr;
  const TracedStep* reader = nullptr;
  for (const TracedStep& step : trace.steps) {
    if (!StepReads(step, convolution.y.data)) continue;
    if (reader) return nullptr;
    reader = &step;
  }
  const auto* norm = reader ? std::get_if<TracedNorm>(&reader->what) : nullptr;
  return norm && norm->residual != convolution.y.data ? reader : nullptr;
}

FusedStep StepOfNorm(const Trace& trace, const TracedStep& step, const TracedNorm& norm) {
  for (const TracedStep& before : trace.steps) {
    if (FindNorm(trace, before) == &step) return {&before, &norm, step.y, norm.spec.relu};
  }
  return {&step, nullptr, step.y};
}

// Tells whether `step` is an in-place ReLU of the layer's output.
bool IsReluOf(const TracedStep& step, const TracedStep& layer) {
  const auto* activation = std::get_if<TracedActivation>(&step.what);
  return activation && activation->kind == Activation::kRelu && step.x.data == layer.y.data &&
         step.y.data == layer.y.data;
}

}  // namespace

const void* FusedStep::residual() const {
  const auto* by_itself = std::get_if<TracedNorm>(&first->what);
  const TracedNorm* const of = by_itself ? by_itself : norm;
  return of ? of->residual : nullptr;
}

bool FusedStep::Reads(const void* data) const {
  return StepReads(*first, data) || residual() == data;
}

std::vector<FusedStep> FuseSteps(const Trace& trace) {
  std::vector<FusedStep> fused;
  for (size_t i = 0; i < trace.steps.size(); ++i) {
    const TracedStep& step = trace.steps[i];
    if (FindNorm(trace, step)) continue;  // fused with that norm
    if (const auto* norm = std::get_if<TracedNorm>(&step.what)) {
      fused.push_back(StepOfNorm(trace, step, *norm));
      continue;
    }
    const bool layer = std::holds_alternative<TracedConvolution>(step.what) ||
                       std::holds_alternative<TracedDense>(step.what);
    const bool relu = layer && i + 1 < trace.steps.size() && IsReluOf(trace.steps[i + 1], step);
    fused.push_back({&step, nullptr, step.y, relu});
    i += relu;
  }
  return fused;
}

}  // namespace recpack::train
