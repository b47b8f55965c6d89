#include "recpack/loader/recipe.h"

#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/text.h"
#include "src/base/format.h"

namespace recpack {
namespace {

ImageField Cifar10() {
  ImageField image;
  image.feature = "image";
  image.raw_shape = {3, 32, 32};
  image.height = image.width = 32;
  image.mean = {0.4914, 0.4822, 0.4465};
  image.std = {0.2470, 0.2435, 0.2616};
  return image;
}

ImageField ImageNet() {
  ImageField image;
  image.mean = {0.485, 0.456, 0.406};
  image.std = {0.229, 0.224, 0.225};
  return image;
}

std::vector<Field> With(ImageField image, const std::string& label) {
  return {std::move(image), NumbersField{.name = "label", .feature = label}};
}

}  // namespace

std::vector<std::string> RecipeNames() {
  return {"cifar10-train",
          "cifar10-eval",
          "imagenet-train",
          "imagenet-train-randaugment",
          "imagenet-train-trivialaugment",
          "imagenet-eval"};
}

std::string RecipeList() { return JoinNames(RecipeNames()); }

std::vector<Field> Recipe(const std::string& name) {
  if (name == "cifar10-eval") return With(Cifar10(), "label");
  if (name == "cifar10-train") {
    ImageField image = Cifar10();
    image.crop = CropKind::kPadAndCrop;
    image.pad = 4;
    image.flip = 0.5F;
    return With(std::move(image), "label");
  }
  if (name == "imagenet-eval") {
    ImageField image = ImageNet();
    image.crop = CropKind::kResizeCentre;
    image.resize = 256;
    return With(std::move(image), "image/class/label");
  }
  for (const auto& [suffix, policy] :
       {std::pair("", AugmentPolicyKind::kNone),
        std::pair("-randaugment", AugmentPolicyKind::kRandAugment),
        std::pair("-trivialaugment", AugmentPolicyKind::kTrivialAugmentWide)}) {
    if (name != std::string("imagenet-train") + suffix) continue;
    ImageField image = ImageNet();
    image.crop = CropKind::kRandomResized;
    image.flip = 0.5F;
    image.augment.policy = {.kind = policy, .interpolation = Interpolation::kBilinear};
    return With(std::move(image), "image/class/label");
  }
  throw Error(ErrorKind::kInvalidArgument, format("there is no recipe '{}'", name), {},
              "choose one of: " + RecipeList());
}

}  // namespace recpack
