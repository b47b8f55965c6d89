// VGG networks with batch normalisation.
#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/models/picture_network.h"

namespace recpack::train {
namespace {

constexpr int kVggStages = 5;
constexpr int64_t kLeastImage = 1 << kVggStages;  // each stage ends with a pooling that halves it
constexpr int kWidened = 4;  // stages: each of the first has twice the channels

struct VggDepth {
  int layers;
  std::array<int, kVggStages> convolutions;  // per stage
};
constexpr VggDepth kVggDepths[] = {
    {11, {1, 1, 2, 2, 2}}, {13, {2, 2, 2, 2, 2}}, {16, {2, 2, 3, 3, 3}}, {19, {2, 2, 4, 4, 4}}};

// Returns null for an unsupported depth.
const VggDepth* FindVggDepth(int layers) {
  const auto* const found = std::ranges::find(kVggDepths, layers, &VggDepth::layers);
  return found == std::end(kVggDepths) ? nullptr : found;
}

std::string OptionsText(const VggOptions& options) {
  return format(R"({{"classes":{},"dense":{},"depth":{},"image":{},"width":{}}})", options.classes,
                options.dense, options.depth, options.image, options.width);
}

// Numbers the layers as torchvision does: convolution, normalisation, ReLU; and poolings between.
Shape AddFeatures(PictureNetwork& network, const VggOptions& options) {
  const ModelContext& context = network.context();
  Shape shape = network.in_shape();
  int number = 0;
  const VggDepth& depth = *FindVggDepth(options.depth);
  for (int stage = 0; stage < kVggStages; ++stage) {
    const int64_t channels = options.width << std::min(stage, kWidened - 1);
    for (int i = 0; i < depth.convolutions[static_cast<size_t>(stage)]; ++i, number += 3) {
      ConvolutionSpec spec = SquareConvolution(context, shape, channels, 3, 1);
      spec.bias = true;  // as torchvision's, though the normalisation takes it out again
      shape = network.Add(MakeConvolutionStage(context, format("features.{}", number), spec));
      shape = network.Add(MakeNormStage(context, format("features.{}", number + 1), shape));
    }
    shape = network.Add(MakePoolingStage(format("features.{}", number++),
                                         SquarePooling(context, shape, PoolingKind::kMax, 2, 2)));
  }
  return shape;
}

void CheckVgg(const VggOptions& options) {
  if (!FindVggDepth(options.depth)) {
    throw Error(ErrorKind::kInvalidArgument, format("there is no vgg of {} layers", options.depth),
                {}, "choose 11, 13, 16 or 19 layers");
  }
  if (options.width >= 1 && options.dense >= 1 && options.classes >= 1 &&
      options.image >= kLeastImage) {
    return;
  }
  throw Error(ErrorKind::kInvalidArgument,
              format("{} channels, {} dense values, {} classes and images of {} pixels are not a "
                     "valid vgg",
                     options.width, options.dense, options.classes, options.image),
              {}, format("give one of each at least, and images of at least {0}x{0}", kLeastImage));
}

}  // namespace

std::vector<int> VggDepths() {
  std::vector<int> all;
  for (const VggDepth& depth : kVggDepths) all.push_back(depth.layers);
  return all;
}

std::unique_ptr<Model> MakeVgg(const ModelContext& context, const VggOptions& options) {
  CheckVgg(options);
  auto network =
      std::make_unique<PictureNetwork>(context, "vgg", OptionsText(options), options.image);
  const ModelContext& of = network->context();
  const Shape shape = network->Add(MakeFlatteningStage("flatten", AddFeatures(*network, options)));
  network->Add(
      MakeDenseStage(of, "classifier.0", MakeHiddenSpec(of, shape[1], options.dense), true));
  network->Add(
      MakeDenseStage(of, "classifier.3", MakeHiddenSpec(of, options.dense, options.dense), true));
  network->Add(
      MakeDenseStage(of, "classifier.6", MakeLogitsSpec(of, options.dense, options.classes)));
  return network;
}

}  // namespace recpack::train
