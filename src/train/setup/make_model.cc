#include "src/train/setup/make_model.h"

#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/models/onnx_model.h"
#include "src/train/setup/picture_data.h"

namespace recpack::train {
namespace {

// The fields that the model's first layer reads.
std::vector<Field> PictureFields(const TrainerOptions& options, bool training) {
  const PictureOptions& pictures = options.pictures;
  std::vector<Field> fields =
      SizedRecipe(training ? pictures.recipe : pictures.eval_recipe, PictureSize(options));
  for (Field& field : fields) {
    if (auto* image = std::get_if<ImageField>(&field)) {
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

}  // namespace

std::unique_ptr<Model> MakeModel(const TrainerOptions& options, const ModelContext& context) {
  if (options.onnx) return MakeOnnxModel(context, options.onnx);
  if (options.model == "deepconn") return MakeDeepconn(context, options.deepconn);
  if (options.model == "alexnet") return MakeAlexnet(context, options.alexnet);
  if (options.model == "vgg") return MakeVgg(context, options.vgg);
  if (options.model == "googlenet") return MakeGooglenet(context, options.googlenet);
  return MakeResnet(context, options.resnet);
}

ModelGraph MakeGraph(const TrainerOptions& options) {
  if (options.model == "deepconn") return DeepconnGraph(options.deepconn);
  return MakeModel(options, {.batch = options.batch_size})->Graph();
}

int64_t PictureSize(const TrainerOptions& options) {
  if (options.model == "alexnet") return options.alexnet.image;
  if (options.model == "googlenet") return options.googlenet.image;
  return options.model == "vgg" ? options.vgg.image : options.resnet.image;
}

namespace {

int64_t PictureClasses(const TrainerOptions& options) {
  if (options.model == "alexnet") return options.alexnet.classes;
  if (options.model == "googlenet") return options.googlenet.classes;
  return options.model == "vgg" ? options.vgg.classes : options.resnet.classes;
}

}  // namespace

std::vector<Field> ModelFields(const TrainerOptions& options, bool training) {
  return options.model == "deepconn" ? ReviewFields(options.deepconn)
                                     : PictureFields(options, training);
}

LabelRange ModelLabels(const TrainerOptions& options) {
  if (options.model == "deepconn") {
    return {"tokens", options.deepconn.vocabulary, "give the size of the vocabulary"};
  }
  return {"labels", PictureClasses(options), "give the number of classes"};
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

}  // namespace recpack::train
