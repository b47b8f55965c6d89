#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/models/picture_network.h"

namespace recpack::train {
namespace {

constexpr int kKernel = 5;
constexpr int kWindow = 3;
constexpr int kStride = 2;  // pooling windows overlap

// Convolution with bias, ReLU, pooling. `first`: the convolution's number among the features.
Shape AddConvolution(PictureNetwork& network, int first, const Shape& in, int64_t channels) {
  const ModelContext& context = network.context();
  ConvolutionSpec spec = SquareConvolution(context, in, channels, kKernel, 1);
  spec.bias = true;
  const Shape shape =
      network.Add(MakeConvolutionStage(context, format("features.{}", first), spec, true));
  return network.Add(
      MakePoolingStage(format("features.{}", first + 2),
                       SquarePooling(context, shape, PoolingKind::kMax, kWindow, kStride)));
}

std::string OptionsText(const AlexnetOptions& options) {
  return format(R"({{"classes":{},"dense":{},"filters":{},"image":{}}})", options.classes,
                options.dense, options.filters, options.image);
}

}  // namespace

std::unique_ptr<Model> MakeAlexnet(const ModelContext& context, const AlexnetOptions& options) {
  if (options.filters < 1 || options.dense < 1 || options.classes < 1 || options.image < 7) {
    throw Error(ErrorKind::kInvalidArgument,
                format("{} filters, {} dense values, {} classes and images of {} pixels are not "
                       "a valid alexnet",
                       options.filters, options.dense, options.classes, options.image),
                {}, "give one of each at least, and images of at least 7x7");
  }
  auto network =
      std::make_unique<PictureNetwork>(context, "alexnet", OptionsText(options), options.image);
  const ModelContext& of = network->context();
  Shape shape = AddConvolution(*network, 0, network->in_shape(), options.filters);
  shape = AddConvolution(*network, 3, shape, 3 * options.filters);
  shape = network->Add(MakeFlatteningStage("flatten", shape));
  network->Add(
      MakeDenseStage(of, "classifier.0", MakeHiddenSpec(of, shape[1], options.dense), true));
  network->Add(
      MakeDenseStage(of, "classifier.2", MakeHiddenSpec(of, options.dense, options.dense), true));
  network->Add(
      MakeDenseStage(of, "classifier.4", MakeLogitsSpec(of, options.dense, options.classes)));
  return network;
}

}  // namespace recpack::train
