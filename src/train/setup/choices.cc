#include "src/train/setup/choices.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/base/parse_units.h"

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
      Choice("parameter_server", &TrainerOptions::strategy, StrategyKind::kParameterServer),
      Choice("auto", &TrainerOptions::strategy, StrategyKind::kAuto)};
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

const TrainerChoices& WordTableChoices() {
  static const auto choice = [](const char* name, WordTables tables) {
    return TrainerChoice{name,
                         [tables](TrainerOptions& options) { options.deepconn.tables = tables; }};
  };
  static const TrainerChoices choices = {choice("shared", WordTables::kShared),
                                         choice("separate", WordTables::kSeparate)};
  return choices;
}

const TrainerChoices& InputChoices() {
  static const TrainerChoices choices = {
      Choice("real", &TrainerOptions::input, InputKind::kReal),
      Choice("cached", &TrainerOptions::input, InputKind::kCached),
      Choice("synthetic", &TrainerOptions::input, InputKind::kSynthetic)};
  return choices;
}

TrainerChoice PlacementChoice(const std::string& name) {
  return {name, [name](TrainerOptions& options) {
            std::vector<DeviceSpec>& devices = options.devices;
            if (name == "one") devices.resize(1);
            options.place = name;
            if (name != "towers") return;
            if (devices.size() < 2) {
              throw Error(ErrorKind::kInvalidArgument,
                          format("the towers are to be placed on {} alone", DeviceName(devices[0])),
                          {}, "name two devices, as in --devices-list cpu:0,cpu:1");
            }
            options.place =
                format("user={},item={}", DeviceName(devices[0]), DeviceName(devices[1]));
          }};
}

void ParsePooling(const std::string& text, DeepconnOptions& options) {
  if (text == "all") {
    options.pool_window = 0;
    options.pool_stride = 1;
    return;
  }
  const std::string_view all = text;
  const size_t slash = std::min(all.find('/'), all.size());
  const uint64_t window = WholeNumber(all.substr(0, slash)).value_or(0);
  const uint64_t stride = WholeNumber(all.substr(std::min(slash + 1, all.size()))).value_or(0);
  constexpr uint64_t kMost = std::numeric_limits<int>::max();
  if (window == 0 || stride == 0 || window > kMost || stride > kMost) {
    throw Error(ErrorKind::kInvalidArgument,
                format("unknown pooling '{}': expected all, or WINDOW/STRIDE as in 2/1", text));
  }
  options.pool_window = static_cast<int>(window);
  options.pool_stride = static_cast<int>(stride);
}

std::string PoolingText(const DeepconnOptions& options) {
  return options.pool_window == 0 ? "all"
                                  : format("{}/{}", options.pool_window, options.pool_stride);
}

}  // namespace recpack::train
