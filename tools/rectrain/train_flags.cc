#include "tools/rectrain/train_flags.h"

#include <algorithm>

#include "src/train/collectives/nccl/nccl_collective.h"
#include "tools/program.h"

namespace recpack::tool {
namespace {

void AddModelFlags(CLI::App& command, train::TrainerOptions& options) {
  command.add_option("--model", options.model, "Model to train; see docs/reference/training.md.")
      ->capture_default_str()
      ->check(CLI::IsMember({"resnet", "alexnet", "deepconn"}));
  command.add_option("--width", options.resnet.width, "resnet: channels of the first stage.")
      ->capture_default_str()
      ->check(Positive());
  command.add_option("--classes", options.resnet.classes, "resnet and alexnet: number of classes.")
      ->capture_default_str();
  command.add_option("--dense", options.alexnet.dense, "alexnet: size of a hidden layer.")
      ->capture_default_str()
      ->check(Positive());
  command
      .add_option("--max-tokens", options.deepconn.max_tokens,
                  "deepconn: tokens read from a user's and from an item's reviews.")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 24));
  const auto size = [&command](const char* name, auto& value, const char* text) {
    command.add_option(name, value, text)->capture_default_str()->check(Positive());
  };
  train::DeepconnOptions& deepconn = options.deepconn;
  size("--dims", deepconn.dims, "deepconn: size of a token's vector.");
  size("--filters", deepconn.filters, "deepconn: filters of a tower.");
  size("--kernel", deepconn.kernel, "deepconn: tokens that a filter spans.");
  size("--latent", deepconn.latent, "deepconn: output size of a tower.");
  size("--factors", deepconn.factors, "deepconn: factors of the factorisation machine.");
  command
      .add_option("--vocabulary", options.deepconn.vocabulary,
                  "deepconn: number of tokens; 0: from vocabulary.txt beside the shards.")
      ->capture_default_str()
      ->check(NotNegative());
}

std::vector<std::string> Names(const train::TrainerChoices& choices) {
  std::vector<std::string> names;
  for (const train::TrainerChoice& choice : choices) names.push_back(choice.name);
  return names;
}

train::TrainerChoices::const_iterator Find(const train::TrainerChoices& choices,
                                           const std::string& name) {
  return std::find_if(choices.begin(), choices.end(),
                      [&](const train::TrainerChoice& choice) { return choice.name == name; });
}

}  // namespace

void AddChoice(CLI::App& command, const std::string& name, train::TrainerOptions& options,
               const train::TrainerChoices& choices, const std::string& text) {
  const auto apply = [&options, &choices](const std::string& given) {
    Find(choices, given)->apply(options);
  };
  command.add_option_function<std::string>(name, apply, text)
      ->default_str(choices.front().name)
      ->check(CLI::IsMember(Names(choices)));
}

void AddChoices(CLI::App& command, const std::string& name, train::TrainerChoices& chosen,
                const train::TrainerChoices& choices, const std::string& text) {
  const auto choose = [&chosen, &choices, name](const std::vector<std::string>& given) {
    chosen.clear();
    for (const std::string& each : given) {
      if (Find(chosen, each) != chosen.end()) {
        throw CLI::ValidationError(name, "'" + each + "' is named twice");
      }
      chosen.push_back(*Find(choices, each));
    }
  };
  command.add_option_function<std::vector<std::string>>(name, choose, text)
      ->delimiter(',')
      ->default_str(CLI::detail::join(Names(chosen), ","))
      ->check(CLI::IsMember(Names(choices)));
}

void AddTrainingFlags(CLI::App& command, train::TrainerOptions& options) {
  command.add_option("DATA", options.data, "Shards, as for recpack batches.")->required();
  command
      .add_option("--batch-size", options.batch_size,
                  "Samples per step and device; 0: the model's default.")
      ->capture_default_str()
      ->check(NotNegative());
  command.add_option("--seed", options.seed, "Seed of initial values, order and augmentation.")
      ->capture_default_str();
  command.add_option("--loader-threads", options.loader_threads, "Threads of the loader.")
      ->capture_default_str();
  AddChoice(command, "--bn", options, train::NormStatisticsChoices(),
            "Batch statistics over each device's samples (local) or over all devices' (sync).");
  AddModelFlags(command, options);
}

void FinishTrainingFlags(train::TrainerOptions& options,
                         const train::CollectiveOptions& processes) {
  options.alexnet.classes = options.resnet.classes;
  options.between_gpus = train::NcclCollectives(processes);
}

}  // namespace recpack::tool
