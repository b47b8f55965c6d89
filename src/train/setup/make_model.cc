#include "src/train/setup/make_model.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/folders.h"
#include "recpack/base/text.h"
#include "recpack/loader/recipe.h"
#include "src/base/format.h"

namespace recpack::train {
namespace {

constexpr char kVocabularyName[] = "vocabulary.txt";

// Counts the lines of vocabulary.txt beside the shards; one token per line.
int64_t CountTokens(const std::string& data) {
  const std::filesystem::path path(data);
  const auto file = (std::filesystem::is_directory(FileStatus(data)) ? path : path.parent_path()) /
                    kVocabularyName;
  if (!PosixFiles().Exists(file)) {
    throw Error(ErrorKind::kNotFound, "there is no vocabulary", {.path = file},
                "give its size, or make shards with 'recpack pack --from reviews'");
  }
  const ByteBuffer text = ReadWholeFile(PosixFiles(), file);
  return std::count(text.begin(), text.end(), static_cast<uint8_t>('\n'));
}

// The fields that the model's first layer reads.
std::vector<Field> PictureFields(const TrainerOptions& options, bool training) {
  const std::string& recipe = training ? options.recipe : options.eval_recipe;
  const int64_t size = PictureSize(options);
  std::vector<Field> fields = Recipe(recipe);
  for (Field& field : fields) {
    if (auto* image = std::get_if<ImageField>(&field)) {
      if (image->height != size || image->width != size) {
        throw Error(ErrorKind::kInvalidArgument,
                    format("the recipe '{}' makes images of {} x {}, but the network reads {} x {}",
                           recipe, image->width, image->height, size, size),
                    {}, "choose a recipe with the network's image size");
      }
      image->type = options.type == ElementType::kBf16 ? ElementType::kBf16 : ElementType::kF32;
      image->layout = options.layout;
    }
  }
  return fields;
}

std::vector<Field> ReviewFields(const DeepconnOptions& options) {
  const auto tokens = [&](const char* name) {
    return NumbersField{.name = name,
                        .type = ElementType::kI32,
                        .length = static_cast<uint32_t>(options.max_tokens),
                        .ragged = true,
                        .truncate = true};
  };
  return {tokens("user_tokens"), tokens("item_tokens"),
          NumbersField{.name = "rating", .type = ElementType::kF32}};
}

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

}  // namespace

uint32_t DefaultBatchSize(const std::string& model) { return model == "deepconn" ? 32 : 128; }

TrainerOptions CompleteOptions(TrainerOptions options) {
  const auto is = [&](const char* name) { return options.model == name; };
  if (!is("resnet") && !is("alexnet") && !is("deepconn")) {
    throw Error(ErrorKind::kInvalidArgument, format("there is no model '{}'", options.model), {},
                "choose resnet, alexnet or deepconn");
  }
  CheckNumbers(options);
  if (options.batch_size == 0) options.batch_size = DefaultBatchSize(options.model);
  if (!options.optimizer.kind) {
    options.optimizer.kind = is("deepconn") ? OptimizerKind::kAdam : OptimizerKind::kSgd;
  }
  if (options.optimizer.rate == 0) {
    options.optimizer.rate = is("resnet") ? 0.1 : is("alexnet") ? 0.02 : 0.01;
  }
  if (options.optimizer.decay < 0) options.optimizer.decay = is("deepconn") ? 0 : 5e-4;
  if (options.model == "deepconn" && options.deepconn.vocabulary == 0) {
    options.deepconn.vocabulary = CountTokens(options.data);
  }
  return options;
}

std::unique_ptr<Model> MakeModel(const TrainerOptions& options, const ModelContext& context) {
  if (options.model == "deepconn") return MakeDeepconn(context, options.deepconn);
  if (options.model == "alexnet") return MakeAlexnet(context, options.alexnet);
  return MakeResnet(context, options.resnet);
}

int64_t PictureSize(const TrainerOptions& options) {
  return options.model == "alexnet" ? options.alexnet.image : options.resnet.image;
}

std::vector<Field> ModelFields(const TrainerOptions& options, bool training) {
  return options.model == "deepconn" ? ReviewFields(options.deepconn)
                                     : PictureFields(options, training);
}

LabelRange ModelLabels(const TrainerOptions& options) {
  if (options.model == "deepconn") {
    return {"tokens", options.deepconn.vocabulary, "give the size of the vocabulary"};
  }
  return {"labels", options.model == "alexnet" ? options.alexnet.classes : options.resnet.classes,
          "give the number of classes"};
}

void CheckLabels(const TrainerOptions& options, const LossSums& sums, const std::string& where,
                 const std::string& token) {
  if (sums.bad_labels == 0) return;
  const LabelRange range = ModelLabels(options);
  throw Error(
      ErrorKind::kInvalidArgument,
      format("{} {} {} are not in 0 to {}", sums.bad_labels, range.name, where, range.size - 1),
      {.path = options.data}, format("{}; the batch's token is {}", range.fix, token));
}

namespace {

using Json = nlohmann::json;

class Reader {
 public:
  Reader(const CheckpointInfo& info, const std::string& path)
      : json_(Parse(info.model_options)), path_(path) {
    if (!json_.is_object()) Damaged(format("gives '{}' as the model's options", json_.dump()));
  }

  template <typename T>
  void Take(const char* name, T& value) const {
    const auto found = json_.find(name);
    constexpr auto kMost = std::numeric_limits<int32_t>::max();
    if (found == json_.end()) Damaged(format("lacks \"{}\" among the model's options", name));
    if (!found->is_number_unsigned() || found->get<uint64_t>() == 0 ||
        found->get<uint64_t>() > kMost) {
      Damaged(
          format("has {} as \"{}\": expected a number from 1 to {}", found->dump(), name, kMost));
    }
    value = found->get<T>();
  }

 private:
  // JSON that is nested too deep is treated like invalid JSON.
  static Json Parse(const std::string& text) {
    if (NestsTooDeep(text)) return text.substr(0, 60) + "...";
    return Json::parse(text, nullptr, /*allow_exceptions=*/false);
  }

  [[noreturn]] void Damaged(const std::string& reason) const {
    throw Error(ErrorKind::kCorrupt, reason, {.path = path_}, "take another checkpoint");
  }

  const Json json_;
  const std::string& path_;
};

}  // namespace

void TakeModel(const CheckpointInfo& info, const std::string& path, TrainerOptions& options) {
  options.model = info.model;
  const Reader reader(info, path);
  if (info.model == "resnet") {
    reader.Take("width", options.resnet.width);
    reader.Take("classes", options.resnet.classes);
    reader.Take("image", options.resnet.image);
  } else if (info.model == "alexnet") {
    reader.Take("filters", options.alexnet.filters);
    reader.Take("dense", options.alexnet.dense);
    reader.Take("classes", options.alexnet.classes);
    reader.Take("image", options.alexnet.image);
  } else if (info.model == "deepconn") {
    DeepconnOptions& deepconn = options.deepconn;
    reader.Take("vocabulary", deepconn.vocabulary);
    reader.Take("max_tokens", deepconn.max_tokens);
    reader.Take("dims", deepconn.dims);
    reader.Take("filters", deepconn.filters);
    reader.Take("kernel", deepconn.kernel);
    reader.Take("latent", deepconn.latent);
    reader.Take("factors", deepconn.factors);
  } else {
    throw Error(
        ErrorKind::kUnsupported,
        format("is a checkpoint of the model '{}', which this rectrain does not have", info.model),
        {.path = path}, "name one of resnet, alexnet or deepconn");
  }
}

}  // namespace recpack::train
