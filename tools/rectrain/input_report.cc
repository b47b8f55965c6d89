#include "tools/rectrain/input_report.h"

#include "src/base/format.h"
#include "tools/program.h"
#include "tools/rectrain/timing_json.h"
#include "tools/rectrain/train_flags.h"

namespace recpack::tool {
namespace {

InputKind KindOf(const TrainerChoice& choice) {
  TrainerOptions options;
  choice.apply(options);
  return options.input;
}

struct Ratio {
  std::string name;
  double value;
};

std::vector<Ratio> Ratios(const std::vector<StepTiming>& timings) {
  std::vector<Ratio> ratios;
  for (size_t i = 1; i < timings.size(); ++i) {
    ratios.push_back({InputName(timings[0].input) + "/" + InputName(timings[i].input),
                      timings[0].samples_per_second / timings[i].samples_per_second});
  }
  return ratios;
}

}  // namespace

void AddInputFlags(CLI::App& command, TrainerChoices& inputs, TrainerOptions& options) {
  inputs = {InputChoices().front()};
  AddChoices(command, "--input", inputs, InputChoices(),
             "real: the loader's batches; cached: some of them over and over; synthetic: one. Of a "
             "list, the first is trained on, and then all are timed.");
  command
      .add_option("--timed-steps", options.timing.steps,
                  "Of each of several inputs, in a round of the timing.")
      ->capture_default_str()
      ->check(Positive());
  command
      .add_option("--timed-rounds", options.timing.rounds,
                  "Of the timing, in which the inputs take turns; medians count.")
      ->capture_default_str()
      ->check(Positive());
}

void FinishInputFlags(const TrainerChoices& inputs, TrainerOptions& options) {
  options.input = KindOf(inputs.front());
  if (inputs.size() == 1) return;
  for (const TrainerChoice& choice : inputs) options.timing.inputs.push_back(KindOf(choice));
}

StepTiming SpeedOf(const std::vector<EpochReport>& epochs, InputKind input) {
  uint64_t samples = 0;
  double seconds = 0;
  for (const EpochReport& epoch : epochs) {
    samples += epoch.train.samples;
    seconds += epoch.train_seconds;
  }
  return {.input = input, .samples_per_second = static_cast<double>(samples) / seconds};
}

std::string InputName(InputKind input) {
  for (const TrainerChoice& choice : InputChoices()) {
    if (KindOf(choice) == input) return choice.name;
  }
  return {};
}

std::string InputsText(const std::vector<StepTiming>& timings) {
  std::string text;
  for (const StepTiming& timing : timings) {
    text += format("{}{} {:.0f} samples/s", text.empty() ? "" : ", ", InputName(timing.input),
                   timing.samples_per_second);
  }
  const char* before = "; ";
  for (const Ratio& ratio : Ratios(timings)) {
    text += format("{}{} {:.3f}", before, ratio.name, ratio.value);
    before = ", ";
  }
  return text;
}

nlohmann::json InputsJson(const std::vector<StepTiming>& timings) {
  nlohmann::json inputs = nlohmann::json::array();
  for (const StepTiming& timing : timings) {
    nlohmann::json json = {{"input", InputName(timing.input)},
                           {"samples_per_s", timing.samples_per_second}};
    if (timing.step_seconds > 0) json.update(TimingJson<nlohmann::json>(timing));
    inputs.push_back(std::move(json));
  }
  nlohmann::json ratios = nlohmann::json::object();
  for (const Ratio& ratio : Ratios(timings)) ratios[ratio.name] = ratio.value;
  return {{"inputs", inputs}, {"ratios", ratios}};
}

}  // namespace recpack::tool
