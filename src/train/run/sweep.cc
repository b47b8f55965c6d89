#include "src/train/run/sweep.h"

#include <algorithm>
#include <exception>
#include <set>

#include "recpack/base/cpu.h"
#include "src/base/format.h"
#include "src/train/setup/make_ops.h"

namespace recpack::train {
namespace {

int CountDevices(const TrainerOptions& options, DeviceKind kind) {
  return static_cast<int>(
      std::count_if(options.devices.begin(), options.devices.end(),
                    [kind](const DeviceSpec& device) { return device.kind == kind; }));
}

// The part of the options that affects the exchange of variables.
std::string ExchangeName(const TrainerOptions& options) {
  const bool alone = options.devices.size() == 1;
  if (options.strategy != StrategyKind::kParameterServer) {
    return format("replicated {} {} {}", static_cast<int>(options.strategy), options.async,
                  options.norm_sync && !alone);
  }
  const bool spread = options.variables == VariablePlace::kSpread && !alone;
  const bool cpu = options.variables == VariablePlace::kCpu;
  return format("served {} {} {}",
                cpu      ? "cpu"
                : spread ? "spread"
                         : "device",
                options.async, options.norm_sync && !alone);
}

std::string ThreadsName(const TrainerOptions& options) {
  const int devices = CountDevices(options, DeviceKind::kCpu);  // these share the processors
  if (devices == 0) return {};
  const int share = std::max(1, AvailableThreads() / devices);
  return format("{} {}", options.threads ? options.threads : share, options.bind_threads);
}

// Equal for options that give the same training, within what a sweep varies.
std::string TrainingName(const TrainerOptions& options) {
  std::string text;
  for (const DeviceSpec& device : options.devices) text += DeviceName(device) + " ";
  text += format("| {} {} ", static_cast<int>(options.input), static_cast<int>(options.type));
  if (options.model != "deepconn") text += format("{} ", static_cast<int>(options.layout));
  if (CountDevices(options, DeviceKind::kSimulated) > 0) return text;
  if (options.model != "alexnet" && options.model != "deepconn")
    text += format("{} ", options.fused_norm);
  text += "| " + ExchangeName(options) + " | " + ThreadsName(options);
  return IsPlaced(options) ? text + " | " + options.place : text;
}

SweepCase MakeCase(const TrainerOptions& base, const std::vector<SweepAxis>& axes, size_t number) {
  SweepCase made{.names = std::vector<std::string>(axes.size()), .options = base};
  std::vector<const TrainerChoice*> chosen(axes.size());
  for (size_t i = axes.size(); i-- > 0;) {
    chosen[i] = &axes[i].choices[number % axes[i].choices.size()];
    number /= axes[i].choices.size();
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    made.names[i] = chosen[i]->name;
    chosen[i]->apply(made.options);
  }
  return made;
}

std::string Join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

SweepRun RunCase(const SweepPlan& plan, const SweepOptions& options, size_t of, int round) {
  SweepRun run{.of = of, .round = round};
  TrainerOptions trained = plan.cases[of].options;
  trained.epochs = 0;
  trained.evaluate = false;
  trained.timing = {
      .inputs = {trained.input}, .steps = options.steps, .warmup = options.warmup, .rounds = 1};
  try {
    Trainer trainer(std::move(trained));
    trainer.Run([](const EpochReport&) {});
    run.timing = trainer.timings().at(0);
  } catch (const std::exception& error) {
    run.error = error.what();
  }
  return run;
}

}  // namespace

SweepPlan PlanSweep(const TrainerOptions& base, const std::vector<SweepAxis>& axes) {
  SweepPlan plan;
  size_t count = 1;
  for (const SweepAxis& axis : axes) {
    plan.axes.push_back(axis.name);
    count *= axis.choices.size();
  }
  for (size_t number = 0; number < count; ++number) {
    SweepCase made = MakeCase(base, axes, number);
    const std::string training = TrainingName(made.options);
    const auto same = std::find_if(plan.cases.begin(), plan.cases.end(), [&](const auto& other) {
      return TrainingName(other.options) == training;
    });
    if (same == plan.cases.end()) {
      plan.cases.push_back(std::move(made));
    } else {
      plan.left_out.push_back(
          format("{}: the same training as {}", Join(made.names), Join(same->names)));
    }
  }
  return plan;
}

void RunSweep(const SweepPlan& plan, const SweepOptions& options, const std::vector<SweepRun>& done,
              const std::function<void(const SweepRun& run)>& report) {
  std::set<std::pair<int, size_t>> there;
  std::set<size_t> failed;
  for (const SweepRun& run : done) {
    there.emplace(run.round, run.of);
    if (!run.error.empty()) failed.insert(run.of);
  }
  for (int round = 0; round < options.rounds; ++round) {
    for (size_t of = 0; of < plan.cases.size(); ++of) {
      if (there.contains({round, of}) || failed.contains(of)) continue;
      const SweepRun run = RunCase(plan, options, of, round);
      if (!run.error.empty()) failed.insert(of);
      report(run);
    }
  }
}

}  // namespace recpack::train
