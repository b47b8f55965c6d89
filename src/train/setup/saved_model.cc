#include "src/train/setup/saved_model.h"

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "recpack/base/error.h"
#include "recpack/base/text.h"
#include "src/base/format.h"
#include "src/train/models/onnx_model.h"

namespace recpack::train {
namespace {

using Json = nlohmann::json;

// Reads the model options of a checkpoint.
class Reader {
 public:
  Reader(const CheckpointInfo& info, const std::string& path)
      : json_(Parse(info.model_options)), path_(path) {
    if (!json_.is_object()) Damaged(format("gives '{}' as the model's options", json_.dump()));
  }

  template <typename T>
  void TakeIfThere(const char* name, T& value) const {
    if (json_.contains(name)) Take(name, value);
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
  // JSON that is nested too deeply is treated like invalid JSON.
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

CheckpointInfo TakeOnnx(const std::string& path, TrainerOptions& options) {
  options.model = "onnx";
  options.onnx = std::make_shared<const OnnxNetwork>(ReadOnnxNetwork(path));
  options.resnet.image = options.onnx->image;
  options.resnet.classes = options.onnx->classes;
  std::string& recipe = options.pictures.eval_recipe;
  if (recipe.empty()) recipe = options.onnx->image > kSmallImage ? "imagenet-eval" : "cifar10-eval";
  return {.model = options.model,
          .model_options = format(R"({{"sha256":"{}"}})", options.onnx->sha256),
          .eval_recipe = recipe};
}

void TakeModel(const CheckpointInfo& info, const std::string& path, TrainerOptions& options) {
  options.model = info.model;
  if (options.pictures.eval_recipe.empty()) {  // older checkpoints are of CIFAR-10
    options.pictures.eval_recipe = info.eval_recipe.empty() ? "cifar10-eval" : info.eval_recipe;
  }
  const Reader reader(info, path);
  if (info.model == "resnet") {
    reader.Take("width", options.resnet.width);
    reader.Take("classes", options.resnet.classes);
    reader.Take("image", options.resnet.image);
    reader.TakeIfThere("depth", options.resnet.depth);
    reader.TakeIfThere("stem", options.resnet.stem);
  } else if (info.model == "alexnet") {
    reader.Take("filters", options.alexnet.filters);
    reader.Take("dense", options.alexnet.dense);
    reader.Take("classes", options.alexnet.classes);
    reader.Take("image", options.alexnet.image);
  } else if (info.model == "vgg") {
    reader.Take("depth", options.vgg.depth);
    reader.Take("width", options.vgg.width);
    reader.Take("dense", options.vgg.dense);
    reader.Take("classes", options.vgg.classes);
    reader.Take("image", options.vgg.image);
  } else if (info.model == "googlenet") {
    reader.Take("stem", options.googlenet.stem);
    reader.Take("width", options.googlenet.width);
    reader.Take("classes", options.googlenet.classes);
    reader.Take("image", options.googlenet.image);
  } else if (info.model == "deepconn") {
    DeepconnOptions& deepconn = options.deepconn;
    reader.Take("vocabulary", deepconn.vocabulary);
    reader.Take("max_tokens", deepconn.max_tokens);
    reader.Take("dims", deepconn.dims);
    reader.Take("filters", deepconn.filters);
    reader.Take("kernel", deepconn.kernel);
    reader.Take("latent", deepconn.latent);
    reader.Take("factors", deepconn.factors);
    deepconn.pool_window = 0;
    reader.TakeIfThere("pool_window", deepconn.pool_window);
    reader.TakeIfThere("pool_stride", deepconn.pool_stride);
    int tables = 2;  // also of older checkpoints
    reader.TakeIfThere("tables", tables);
    deepconn.tables = tables == 1 ? WordTables::kShared : WordTables::kSeparate;
  } else {
    throw Error(
        ErrorKind::kUnsupported,
        format("is a checkpoint of the model '{}', which this rectrain does not have", info.model),
        {.path = path}, "name one of resnet, vgg, googlenet, alexnet or deepconn");
  }
}

}  // namespace recpack::train
