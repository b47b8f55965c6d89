#include "tools/rectrain/train_flags.h"

#include <algorithm>

#include "recpack/example/field_map.h"
#include "recpack/loader/recipe.h"
#include "src/train/collectives/nccl/nccl_collective.h"
#include "src/train/setup/complete_options.h"
#include "tools/program.h"

namespace recpack::tool {
namespace {

void AddModelFlags(CLI::App& command, train::TrainerOptions& options) {
  command.add_option("--model", options.model, "Model to train; see docs/reference/training.md.")
      ->capture_default_str()
      ->check(CLI::IsMember(train::ModelNames()));
  train::PictureOptions& pictures = options.pictures;
  command
      .add_option_function<int64_t>(
          "--width",
          [&options](int64_t width) {
            options.resnet.width = options.vgg.width = options.googlenet.width = width;
          },
          "resnet, vgg and googlenet (a multiple of 8): channels of the first stage; 0: 64, or 16 "
          "for resnet with a stem of 3.")
      ->default_str("0")
      ->check(NotNegative());
  command
      .add_option("--stem", pictures.stem,
                  "resnet and googlenet: kernel of the first convolution, 3 or 7 (with a stride of "
                  "2, and max pooling); 0: 7 for images above 64 pixels.")
      ->capture_default_str()
      ->check(CLI::IsMember({0, 3, 7}));
  command
      .add_option("--classes", pictures.classes,
                  "Models of pictures: number of classes; 0: as many as the data set names.")
      ->capture_default_str();
  command
      .add_option_function<int64_t>(
          "--dense",
          [&options](int64_t dense) {
            options.alexnet.dense = dense > 0 ? dense : train::AlexnetOptions().dense;
            options.vgg.dense = dense;
          },
          "alexnet and vgg: size of a hidden layer; 0: 2048 for alexnet; for vgg 4096, or 512 for "
          "images up to 64 pixels.")
      ->default_str("0")
      ->check(NotNegative());
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
  AddChoice(command, "--embedding", options, train::WordTableChoices(),
            "deepconn: the towers share one table of token vectors, as published, or have separate "
            "ones.");
  command
      .add_option_function<std::string>(
          "--pooling",
          [&options](const std::string& text) { train::ParsePooling(text, options.deepconn); },
          "deepconn: maximum over all positions of a text, or over windows, flattened: "
          "WINDOW/STRIDE.")
      ->default_str("all");
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

void AddDataFlags(CLI::App& command, train::TrainerOptions& options) {
  command
      .add_option("DATA", options.data,
                  "Shards, class folders, tar archives or a list, as for recpack batches.")
      ->required();
  command.add_option("--split", options.train_split,
                     "Split to train on; default: train, or the only one.");
  command.add_option("--eval-split", options.eval_split,
                     "Split to evaluate on; default: the first of test, eval and validation that "
                     "exists.");
  command.add_option_function<std::string>(
      "--field", [&options](const std::string& text) { options.fields = ParseFieldMap(text); },
      "TARGET=NAME,...: read features of DATA under other names, as in image=jpg,label=cls.");
  command
      .add_option("--label-offset", options.label_offset,
                  "Number of the first class of DATA (1: labels are 1 to N).")
      ->capture_default_str();
  train::PictureOptions& pictures = options.pictures;
  command.add_option("--recipe", pictures.recipe,
                     "Recipe of training images; default: imagenet-train for encoded images, "
                     "cifar10-train for rows of CIFAR. One of " +
                         RecipeList() + ".");
  command.add_option("--eval-recipe", pictures.eval_recipe,
                     "Recipe of evaluation images; default: the one that belongs to --recipe.");
  command
      .add_option("--image-size", pictures.size,
                  "Height and width of the images; 0: the recipe's (224 for imagenet-train).")
      ->capture_default_str()
      ->check(NotNegative());
  command.add_option_function<std::string>(
      "--order", [&options](const std::string& text) { options.order = ParseOrder(text); },
      "Order of the training samples, as for recpack batches; default: auto.");
  command
      .add_option("--prefetch", options.prefetch, "Batches made ahead; 0: the loader's default.")
      ->capture_default_str();
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
  AddDataFlags(command, options);
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
  options.between_gpus = train::NcclCollectives(processes);
}

}  // namespace recpack::tool
