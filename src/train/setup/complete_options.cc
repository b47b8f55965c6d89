#include "src/train/setup/complete_options.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/setup/data_vocabulary.h"
#include "src/train/setup/make_model.h"
#include "src/train/setup/picture_data.h"

namespace recpack::train {
namespace {

// NaN is rejected as well.
void RefuseBelowZero(double value, const char* name) {
  if (value >= 0) return;
  throw Error(ErrorKind::kInvalidArgument, format("{}: {}", name, value), {}, "give 0 or more");
}

void CheckNumbers(const TrainerOptions& options) {
  if (options.steps_per_dispatch < 1) {
    throw Error(ErrorKind::kInvalidArgument,
                format("a dispatch of {} steps", options.steps_per_dispatch), {}, "give 1 or more");
  }
  RefuseBelowZero(static_cast<double>(options.max_steps), "the most steps");
  RefuseBelowZero(static_cast<double>(options.checkpoint_steps), "steps of a checkpoint");
  RefuseBelowZero(options.threads, "threads");
  RefuseBelowZero(options.warmup_epochs, "epochs of the warm-up");
  RefuseBelowZero(options.optimizer.rate, "the learning rate");
  RefuseBelowZero(options.optimizer.momentum, "the momentum");
  if (options.schedule_epochs > 0 && options.schedule_epochs < options.epochs) {
    throw Error(ErrorKind::kInvalidArgument,
                format("the learning rate is 0 after its {} epochs, and {} are to be trained",
                       options.schedule_epochs, options.epochs),
                {}, format("give --schedule-epochs {} or more, or none", options.epochs));
  }
  if (options.checkpoint_steps == 0 || !options.checkpoints.empty()) return;
  throw Error(
      ErrorKind::kInvalidArgument,
      format("checkpoints every {} steps, and no folder for them", options.checkpoint_steps), {},
      "name one (--checkpoints)");
}

// A model whose name may end with its number of layers.
struct DeepModel {
  const char* name;
  std::vector<int> depths;
  std::function<void(TrainerOptions& options, int depth)> set;
};

const std::vector<DeepModel>& DeepModels() {
  static const std::vector<DeepModel> models = {
      {"resnet", ResnetDepths(),
       [](TrainerOptions& options, int depth) { options.resnet.depth = depth; }},
      {"vgg", VggDepths(), [](TrainerOptions& options, int depth) { options.vgg.depth = depth; }}};
  return models;
}

std::string NameOfDepth(const DeepModel& model, int depth) {
  return format("{}{}", model.name, depth);
}

std::string ListModels() {
  const std::vector<std::string> names = ModelNames();
  std::string list;
  for (size_t i = 0; i < names.size(); ++i) {
    list += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  }
  return list;
}

// Takes the depth out of "resnet50".
void SplitModelName(TrainerOptions& options) {
  for (const DeepModel& model : DeepModels()) {
    for (const int depth : model.depths) {
      if (options.model != NameOfDepth(model, depth)) continue;
      options.model = model.name;
      return model.set(options, depth);
    }
  }
}

}  // namespace

std::vector<std::string> ModelNames() {
  std::vector<std::string> names;
  for (const DeepModel& model : DeepModels()) {
    names.emplace_back(model.name);
    for (const int depth : model.depths) names.push_back(NameOfDepth(model, depth));
  }
  names.insert(names.end(), {"googlenet", "alexnet", "deepconn"});
  return names;
}

uint32_t DefaultBatchSize(const TrainerOptions& options) {
  return options.model == "deepconn" || PictureSize(options) > kSmallImage ? 32 : 128;
}

TrainerOptions CompleteOptions(TrainerOptions options) {
  SplitModelName(options);
  const auto is = [&](const char* name) { return options.model == name; };
  const std::vector<std::string> names = ModelNames();
  if (std::ranges::find(names, options.model) == names.end()) {
    throw Error(ErrorKind::kInvalidArgument, format("there is no model '{}'", options.model), {},
                "choose " + ListModels());
  }
  CheckNumbers(options);
  if (!options.word_vectors.empty() && !is("deepconn")) {
    throw Error(ErrorKind::kInvalidArgument, format("{} has no token vectors", options.model), {},
                "leave --word-vectors out, or choose deepconn");
  }
  if (!options.optimizer.kind) {
    options.optimizer.kind = is("deepconn") ? OptimizerKind::kAdam : OptimizerKind::kSgd;
  }
  if (options.optimizer.rate == 0) {
    // With windows, dense layers have some hundred times as many inputs.
    const double deepconn = options.deepconn.pool_window > 0 ? 0.001 : 0.01;
    options.optimizer.rate = is("resnet")                   ? 0.1
                             : is("vgg") || is("googlenet") ? 0.05
                             : is("alexnet")                ? 0.02
                                                            : deepconn;
  }
  if (options.optimizer.decay < 0) options.optimizer.decay = is("deepconn") ? 0 : 5e-4;
  if (!is("deepconn")) {
    CompletePictures(options);
  } else if (options.deepconn.vocabulary == 0) {
    options.deepconn.vocabulary = CountTokens(options.data);
  }
  if (options.batch_size == 0) options.batch_size = DefaultBatchSize(options);
  return options;
}

}  // namespace recpack::train
