#include "src/train/setup/model_options.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "recpack/base/error.h"
#include "recpack/base/json_levels.h"
#include "src/base/format.h"

namespace recpack::train {
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
          format("gives \"{}\" as {}, which is no number of 1 to {}", name, found->dump(), kMost));
    }
    value = found->get<T>();
  }

 private:
  // What is nested too deep is as little an object as what is no JSON.
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
        format("is a checkpoint of the model '{}', which this rectrain has not", info.model),
        {.path = path}, "name one of resnet, alexnet or deepconn");
  }
}

}  // namespace recpack::train
