// GoogLeNet with batch normalisation, without the auxiliary classifiers.
#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/models/inception.h"
#include "src/train/models/picture_network.h"

namespace recpack::train {
namespace {

constexpr int64_t kPublishedWidth = 64;
constexpr int64_t kLeastParts = 8;  // all numbers of channels are multiples of 64 / 8
constexpr int kSmallStem = 3, kPublishedStem = 7;
constexpr int64_t kLeastSmallImage = 4, kLeastPublishedImage = 16;  // what poolings leave 1x1 of

// Modules at one size of image: the pooling before them, and Table 1 of the paper.
struct Module {
  const char* name;
  InceptionShape shape;
};
struct ModuleGroup {
  int window;  // of the pooling, whose stride is 2
  std::vector<Module> modules;
};

const std::vector<ModuleGroup>& Groups() {
  static const std::vector<ModuleGroup> groups = {
      {3,
       {{"inception3a", {64, 96, 128, 16, 32, 32}}, {"inception3b", {128, 128, 192, 32, 96, 64}}}},
      {3,
       {{"inception4a", {192, 96, 208, 16, 48, 64}},
        {"inception4b", {160, 112, 224, 24, 64, 64}},
        {"inception4c", {128, 128, 256, 24, 64, 64}},
        {"inception4d", {112, 144, 288, 32, 64, 64}},
        {"inception4e", {256, 160, 320, 32, 128, 128}}}},
      {2,
       {{"inception5a", {256, 160, 320, 32, 128, 128}},
        {"inception5b", {384, 192, 384, 48, 128, 128}}}}};
  return groups;
}

std::string OptionsText(const GooglenetOptions& options) {
  return format(R"({{"classes":{},"image":{},"stem":{},"width":{}}})", options.classes,
                options.image, options.stem, options.width);
}

InceptionShape Scaled(InceptionShape shape, int64_t width) {
  for (int64_t* channels :
       {&shape.direct, &shape.reduced, &shape.wide, &shape.reduced2, &shape.wide2, &shape.pooled}) {
    *channels = *channels * width / kPublishedWidth;
  }
  return shape;
}

Shape AddPooling(PictureNetwork& network, int number, const Shape& in, int window) {
  PoolingSpec pooling = SquarePooling(network.context(), in, PoolingKind::kMax, window, 2);
  pooling.round_up = true;
  return network.Add(MakePoolingStage(format("maxpool{}", number), pooling));
}

// What comes before the modules. The published one divides the size of the image by 8.
Shape AddStem(PictureNetwork& network, const GooglenetOptions& options) {
  const ModelContext& context = network.context();
  const bool published = options.stem == kPublishedStem;
  const auto add = [&](const char* name, const Shape& in, int64_t channels, int kernel,
                       int stride) {
    return network.Add(MakeNormedConvolution(
        context, name, SquareConvolution(context, in, channels, kernel, stride)));
  };
  Shape shape = add("conv1", network.in_shape(), options.width, options.stem, published ? 2 : 1);
  if (published) shape = AddPooling(network, 1, shape, 3);
  shape = add("conv2", shape, options.width, 1, 1);
  return add("conv3", shape, 3 * options.width, 3, 1);
}

void CheckGooglenet(const GooglenetOptions& options) {
  if (options.width < kLeastParts || options.width % kLeastParts != 0) {
    throw Error(ErrorKind::kInvalidArgument,
                format("googlenet cannot begin with {} channels", options.width), {},
                format("give a multiple of {}; published: {}", kLeastParts, kPublishedWidth));
  }
  if (options.stem != kSmallStem && options.stem != kPublishedStem) {
    throw Error(ErrorKind::kInvalidArgument,
                format("there is no googlenet with a stem of {0}x{0}", options.stem), {},
                "choose a stem of 3 or 7");
  }
  const int64_t least = options.stem == kSmallStem ? kLeastSmallImage : kLeastPublishedImage;
  if (options.classes >= 1 && options.image >= least) return;
  throw Error(ErrorKind::kInvalidArgument,
              format("{} classes and images of {} pixels are not a valid googlenet",
                     options.classes, options.image),
              {}, format("give 1 class at least, and images of at least {0}x{0}", least));
}

}  // namespace

std::unique_ptr<Model> MakeGooglenet(const ModelContext& context, const GooglenetOptions& options) {
  CheckGooglenet(options);
  auto network =
      std::make_unique<PictureNetwork>(context, "googlenet", OptionsText(options), options.image);
  Shape shape = AddStem(*network, options);
  int pooling = 2;
  for (const ModuleGroup& group : Groups()) {
    // The small stem leaves out the first two poolings.
    if (pooling > 2 || options.stem == kPublishedStem) {
      shape = AddPooling(*network, pooling, shape, group.window);
    }
    ++pooling;
    for (const Module& module : group.modules) {
      shape = network->Add(MakeInception(network->context(), module.name, shape,
                                         Scaled(module.shape, options.width)));
    }
  }
  AddAverageAndDense(*network, shape, options.classes);
  return network;
}

}  // namespace recpack::train
