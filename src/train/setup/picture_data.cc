#include "src/train/setup/picture_data.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>

#include "recpack/base/error.h"
#include "recpack/base/text.h"
#include "recpack/image/header.h"
#include "recpack/loader/feature.h"
#include "recpack/loader/recipe.h"
#include "src/base/format.h"
#include "src/pack/item/pixels.h"

namespace recpack::train {
namespace {

constexpr uint64_t kMostTried = 8;    // records, of which the first may be damaged
constexpr size_t kCifarBytes = 3072;  // 3 x 32 x 32
constexpr int kSmallStem = 3, kLargeStem = 7;
constexpr int64_t kLargeStemWidth = 64;
constexpr int64_t kSmallVggDense = 512;

struct Picture {
  ImageFormat format = ImageFormat::kUnknown;
  size_t bytes = 0;
  bool is_array = false;
};

Picture DescribePicture(const ExampleView& example, const std::string& path) {
  const FeatureView* image = FindPicture(example);
  if (image == nullptr || image->bytes_values().size() != 1) {
    throw Error(ErrorKind::kInvalidArgument,
                format("the records have no picture; they have: {}",
                       JoinNames(example, &FeatureView::name)),
                {.path = path}, "name the feature that holds it: --field image=NAME");
  }
  const ByteView bytes = image->bytes_values()[0];
  return {ReadImageHeader(bytes).format, bytes.size(),
          pack::FindPixels(example, *image).has_value()};
}

// Returns nullopt if there are no records, or none of the first ones can be read.
std::optional<Picture> FirstPicture(const Dataset& data) {
  const auto source = data.NewSource();
  ByteBuffer memory;
  ExampleView example;
  for (uint64_t i = 0; i < std::min(kMostTried, data.records()); ++i) {
    try {
      example.Parse(source->Read(i, memory));
      data.MapFeatures(example);
      return DescribePicture(example, data.path());
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kCorrupt) throw;  // others are the loader's to report
    }
  }
  return std::nullopt;
}

std::string ChooseRecipe(const std::optional<Picture>& picture, const std::string& path) {
  if (picture && picture->is_array) return "imagenet-train";
  if (!picture || (picture->format == ImageFormat::kUnknown && picture->bytes == kCifarBytes)) {
    return "cifar10-train";
  }
  if (picture->format != ImageFormat::kUnknown) return "imagenet-train";
  throw Error(ErrorKind::kUnsupported,
              format("the pictures are {} bytes in no known format", picture->bytes),
              {.path = path},
              "pack JPEG, PNG, WebP, AVIF, TIFF, BMP or GIF files, or rows of CIFAR");
}

int64_t CountClasses(const Dataset& data, const std::string& recipe) {
  if (!data.class_names().empty()) return static_cast<int64_t>(data.class_names().size());
  if (recipe.starts_with("cifar10-")) return AlexnetOptions().classes;
  throw Error(ErrorKind::kInvalidArgument, "the data set has no names of classes to count",
              {.path = data.path()}, "give the number of classes: --classes");
}

}  // namespace

Dataset OpenSplit(const TrainerOptions& options, const std::string& split) {
  return Dataset::Open(
      options.data,
      {.split = split, .fields = options.fields, .label_offset = options.label_offset});
}

std::vector<Field> SizedRecipe(const std::string& recipe, int64_t size) {
  std::vector<Field> fields = Recipe(recipe);
  for (Field& field : fields) {
    auto* const image = std::get_if<ImageField>(&field);
    if (image == nullptr || (image->height == size && image->width == size)) continue;
    if (image->crop != CropKind::kRandomResized && image->crop != CropKind::kResizeCentre) {
      throw Error(ErrorKind::kInvalidArgument,
                  format("the recipe '{}' makes images of {} x {}, but the network reads {} x {}",
                         recipe, image->width, image->height, size, size),
                  {}, "choose a recipe with the network's image size");
    }
    image->resize = static_cast<int>(std::lround(static_cast<double>(image->resize) *
                                                 static_cast<double>(size) / image->height));
    image->height = image->width = static_cast<int>(size);
  }
  return fields;
}

void CompletePictures(TrainerOptions& options) {
  PictureOptions& pictures = options.pictures;
  if (pictures.recipe.empty() || pictures.classes == 0) {
    const Dataset data = OpenSplit(options, options.train_split);
    if (pictures.recipe.empty()) pictures.recipe = ChooseRecipe(FirstPicture(data), options.data);
    if (pictures.classes == 0) pictures.classes = CountClasses(data, pictures.recipe);
  }
  if (pictures.eval_recipe.empty()) {
    pictures.eval_recipe =
        pictures.recipe.starts_with("imagenet-") ? "imagenet-eval" : "cifar10-eval";
  }
  if (pictures.size == 0) {
    for (const Field& field : Recipe(pictures.recipe)) {
      if (const auto* image = std::get_if<ImageField>(&field)) pictures.size = image->height;
    }
  }
  if (pictures.stem == 0) pictures.stem = pictures.size > kSmallImage ? kLargeStem : kSmallStem;
  ResnetOptions& resnet = options.resnet;
  resnet.stem = pictures.stem;
  if (resnet.width == 0) {
    resnet.width = resnet.stem == kLargeStem ? kLargeStemWidth : ResnetOptions().width;
  }
  VggOptions& vgg = options.vgg;
  if (vgg.width == 0) vgg.width = VggOptions().width;
  if (vgg.dense == 0) vgg.dense = pictures.size > kSmallImage ? VggOptions().dense : kSmallVggDense;
  GooglenetOptions& googlenet = options.googlenet;
  if (googlenet.width == 0) googlenet.width = GooglenetOptions().width;
  googlenet.stem = pictures.stem;
  resnet.image = options.alexnet.image = vgg.image = googlenet.image = pictures.size;
  resnet.classes = options.alexnet.classes = vgg.classes = googlenet.classes = pictures.classes;
}

}  // namespace recpack::train
