#include "src/train/setup/choices.h"

namespace recpack::train {
namespace {

// Sets the option `member` to `value`.
template <typename T>
TrainerChoice Choice(const char* name, T TrainerOptions::*member, T value) {
  return {name, [member, value](TrainerOptions& options) { options.*member = value; }};
}

TrainerChoice Served(const char* name, VariablePlace place, bool async) {
  return {name, [place, async](TrainerOptions& options) {
            options.strategy = StrategyKind::kParameterServer;
            options.variables = place;
            options.async = async;
          }};
}

}  // namespace

const TrainerChoices& TypeChoices() {
  static const TrainerChoices choices = {Choice("f32", &TrainerOptions::type, ElementType::kF32),
                                         Choice("bf16", &TrainerOptions::type, ElementType::kBf16)};
  return choices;
}

const TrainerChoices& LayoutChoices() {
  static const TrainerChoices choices = {
      Choice("nhwc", &TrainerOptions::layout, ImageLayout::kNhwc),
      Choice("nchw", &TrainerOptions::layout, ImageLayout::kNchw)};
  return choices;
}

const TrainerChoices& NormChoices() {
  static const TrainerChoices choices = {Choice("fused", &TrainerOptions::fused_norm, true),
                                         Choice("unfused", &TrainerOptions::fused_norm, false)};
  return choices;
}

const TrainerChoices& NormStatisticsChoices() {
  static const TrainerChoices choices = {Choice("local", &TrainerOptions::norm_sync, false),
                                         Choice("sync", &TrainerOptions::norm_sync, true)};
  return choices;
}

const TrainerChoices& StrategyChoices() {
  static const TrainerChoices choices = {
      Choice("replicated", &TrainerOptions::strategy, StrategyKind::kReplicated),
      Choice("distributed_replicated", &TrainerOptions::strategy,
             StrategyKind::kDistributedReplicated),
      Choice("parameter_server", &TrainerOptions::strategy, StrategyKind::kParameterServer)};
  return choices;
}

const TrainerChoices& WholeStrategyChoices() {
  static const TrainerChoices choices = {
      StrategyChoices()[0],
      StrategyChoices()[1],
      Served("parameter_server", VariablePlace::kCpu, false),
      Served("parameter_server/device", VariablePlace::kFirstDevice, false),
      Served("parameter_server/spread", VariablePlace::kSpread, false),
      Served("async", VariablePlace::kCpu, true),
      Served("async/device", VariablePlace::kFirstDevice, true),
      Served("async/spread", VariablePlace::kSpread, true)};
  return choices;
}

const TrainerChoices& SumChoices() {
  static const TrainerChoices choices = {Choice("auto", &TrainerOptions::sums, SumPlace::kAuto),
                                         Choice("nccl", &TrainerOptions::sums, SumPlace::kGpus),
                                         Choice("host", &TrainerOptions::sums, SumPlace::kHost)};
  return choices;
}

const TrainerChoices& VariableChoices() {
  static const TrainerChoices choices = {
      Choice("cpu", &TrainerOptions::variables, VariablePlace::kCpu),
      Choice("device", &TrainerOptions::variables, VariablePlace::kFirstDevice),
      Choice("spread", &TrainerOptions::variables, VariablePlace::kSpread)};
  return choices;
}

const TrainerChoices& BindingChoices() {
  static const TrainerChoices choices = {Choice("free", &TrainerOptions::bind_threads, false),
                                         Choice("bound", &TrainerOptions::bind_threads, true)};
  return choices;
}

const TrainerChoices& GraphChoices() {
  static const TrainerChoices choices = {Choice("on", &TrainerOptions::cuda_graphs, true),
                                         Choice("off", &TrainerOptions::cuda_graphs, false)};
  return choices;
}

const TrainerChoices& WeightStreamChoices() {
  static const TrainerChoices choices = {Choice("on", &TrainerOptions::weights_beside, true),
                                         Choice("off", &TrainerOptions::weights_beside, false)};
  return choices;
}

const TrainerChoices& OptimizerChoices() {
  static const auto choice = [](const char* name, std::optional<OptimizerKind> kind) {
    return TrainerChoice{name, [kind](TrainerOptions& options) { options.optimizer.kind = kind; }};
  };
  static const TrainerChoices choices = {choice("auto", {}), choice("sgd", OptimizerKind::kSgd),
                                         choice("adam", OptimizerKind::kAdam)};
  return choices;
}

const TrainerChoices& BadRecordChoices() {
  static const TrainerChoices choices = {
      Choice("fail", &TrainerOptions::on_bad_record, OnBadRecord::kFail),
      Choice("substitute", &TrainerOptions::on_bad_record, OnBadRecord::kSubstitute)};
  return choices;
}

const TrainerChoices& InputChoices() {
  static const TrainerChoices choices = {
      Choice("real", &TrainerOptions::input, InputKind::kReal),
      Choice("cached", &TrainerOptions::input, InputKind::kCached),
      Choice("synthetic", &TrainerOptions::input, InputKind::kSynthetic)};
  return choices;
}

}  // namespace recpack::train
