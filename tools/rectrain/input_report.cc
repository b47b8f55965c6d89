#include "tools/rectrain/input_report.h"

#include "src/base/format.h"
#include "tools/program.h"
#include "tools/rectrain/train_flags.h"

namespace recpack::tool {
namespace {

train::InputKind ToInputKind(const train::TrainerChoice& choice) {
  train::TrainerOptions options;
  choice.apply(options);
  return options.input;
}

struct Ratio {
  std::string name;
  double value;
};

std::vector<Ratio> Ratios(const std::vector<train::StepTiming>& timings) {
  std::vector<Ratio> ratios;
  for (size_t i = 1; i < timings.size(); ++i) {
    ratios.push_back({InputName(timings[0].input) + "/" + InputName(timings[i].input),
                      timings[0].samples_per_second / timings[i].samples_per_second});
  }
  return ratios;
}

}  // namespace

void AddInputFlags(CLI::App& command, train::TrainerChoices& inputs,
                   train::TrainerOptions& options) {
  inputs = {train::InputChoices().front()};
  AddChoices(
      command, "--input", inputs, train::InputChoices(),
      "real: the loader's batches; cached: a few of them, repeated; synthetic: a single one. "
      "With a list, the first is used for training, and then all are timed.");
  command
      .add_option("--timed-steps", options.timing.steps,
                  "Timed steps per input and round, with several inputs.")
      ->capture_default_str()
      ->check(Positive());
  command
      .add_option("--timed-rounds", options.timing.rounds,
                  "Timing rounds; inputs take turns, and the result is the median.")
      ->capture_default_str()
      ->check(Positive());
}

void FinishInputFlags(const train::TrainerChoices& inputs, train::TrainerOptions& options) {
  options.input = ToInputKind(inputs.front());
  if (inputs.size() == 1) return;
  for (const train::TrainerChoice& choice : inputs)
    options.timing.inputs.push_back(ToInputKind(choice));
}

train::StepTiming EpochTiming(const std::vector<train::EpochReport>& epochs,
                              train::InputKind input) {
  uint64_t samples = 0;
  double seconds = 0;
  for (const train::EpochReport& epoch : epochs) {
    samples += epoch.train.samples;
    seconds += epoch.train_seconds;
  }
  return {.input = input, .samples_per_second = static_cast<double>(samples) / seconds};
}

std::string InputName(train::InputKind input) {
  for (const train::TrainerChoice& choice : train::InputChoices()) {
    if (ToInputKind(choice) == input) return choice.name;
  }
  return {};
}

std::string InputsText(const std::vector<train::StepTiming>& timings) {
  std::string text;
  for (const train::StepTiming& timing : timings) {
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

nlohmann::json InputsJson(const std::vector<train::StepTiming>& timings) {
  nlohmann::json inputs = nlohmann::json::array();
  for (const train::StepTiming& timing : timings) {
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
