#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/models/picture_network.h"
#include "src/train/models/residual_block.h"

namespace recpack::train {
namespace {

constexpr int kStages = 4;
constexpr int kLargeStem = 7;

struct Depth {
  int layers;
  bool bottleneck;
  std::array<int, kStages> blocks;  // per stage
};
constexpr Depth kDepths[] = {{18, false, {2, 2, 2, 2}},
                             {34, false, {3, 4, 6, 3}},
                             {50, true, {3, 4, 6, 3}},
                             {101, true, {3, 4, 23, 3}}};

// Returns null for an unsupported depth.
const Depth* FindDepth(int layers) {
  const auto* const found = std::ranges::find(kDepths, layers, &Depth::layers);
  return found == std::end(kDepths) ? nullptr : found;
}

// The defaults are left out, as older checkpoints do not have them.
std::string OptionsText(const ResnetOptions& options) {
  const std::string depth =
      options.depth == ResnetOptions().depth ? "" : format(R"("depth":{},)", options.depth);
  const std::string stem =
      options.stem == ResnetOptions().stem ? "" : format(R"("stem":{},)", options.stem);
  return format(R"({{"classes":{},{}"image":{},{}"width":{}}})", options.classes, depth,
                options.image, stem, options.width);
}

Shape AddStem(PictureNetwork& network, const ResnetOptions& options) {
  const ModelContext& context = network.context();
  const bool large = options.stem == kLargeStem;
  Shape shape = network.Add(MakeConvolutionStage(
      context, "conv1",
      SquareConvolution(context, network.in_shape(), options.width, options.stem, large ? 2 : 1)));
  shape = network.Add(MakeNormStage(context, "bn1", shape));
  if (!large) return shape;
  PoolingSpec pooling = SquarePooling(context, shape, PoolingKind::kMax, 3, 2);
  pooling.pad = 1;
  return network.Add(MakePoolingStage("maxpool", pooling));
}

}  // namespace

std::vector<int> ResnetDepths() {
  std::vector<int> all;
  for (const Depth& depth : kDepths) all.push_back(depth.layers);
  return all;
}

std::unique_ptr<Model> MakeResnet(const ModelContext& context, const ResnetOptions& options) {
  if (options.width < 1 || options.classes < 1 || options.image < 1) {
    throw Error(ErrorKind::kInvalidArgument,
                format("{} channels, {} classes and images of {} pixels are not a valid resnet",
                       options.width, options.classes, options.image),
                {}, "give one of each at least");
  }
  if (!FindDepth(options.depth) ||
      (options.stem != ResnetOptions().stem && options.stem != kLargeStem)) {
    throw Error(ErrorKind::kInvalidArgument,
                format("there is no resnet of {} layers with a stem of {}x{}", options.depth,
                       options.stem, options.stem),
                {}, "choose 18, 34, 50 or 101 layers, and a stem of 3 or 7");
  }
  auto network =
      std::make_unique<PictureNetwork>(context, "resnet", OptionsText(options), options.image);
  Shape shape = AddStem(*network, options);
  const Depth& depth = *FindDepth(options.depth);
  for (int stage = 0; stage < kStages; ++stage) {
    for (int block = 0; block < depth.blocks[static_cast<size_t>(stage)]; ++block) {
      shape = network->Add(std::make_unique<ResidualBlock>(
          network->context(), format("layer{}.{}", stage + 1, block), shape,
          BlockShape{.bottleneck = depth.bottleneck,
                     .channels = options.width << stage,
                     .stride = stage > 0 && block == 0 ? 2 : 1}));
    }
  }
  AddAverageAndDense(*network, shape, options.classes);
  return network;
}

}  // namespace recpack::train
