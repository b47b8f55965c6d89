// Networks and their losses: the Model interface, and a function that makes each model.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/train/layers/layers.h"
#include "src/train/layers/placement.h"

namespace recpack::train {

// One batch as a model reads it: arrays in device memory, by the names of the loader's fields.
class BatchArrays {
 public:
  virtual ~BatchArrays() = default;
  // Throws Error (kInvalidArgument) for an unknown name.
  virtual const void* Raw(const std::string& name) const = 0;
};

// A layer's output for a batch.
struct LayerOutput {
  std::string name;
  Tensor value;
  // of the device that holds the value; null: of the model's only device
  DeviceQueue* queue = nullptr;
};

// Used on the thread that its Ops is attached to.
class Model {
 public:
  virtual ~Model() = default;

  // The name ("resnet"), and the options as a JSON object. A checkpoint with others is rejected.
  virtual std::string name() const = 0;
  virtual std::string options() const = 0;

  Variables& variables() noexcept { return variables_; }
  const ModelContext& context() const noexcept { return context_; }

  // Sets ModelContext::need.
  void WaitBefore(std::function<void(size_t variable)> need) { context_.need = std::move(need); }

  // Allocates activations, variables and `slots` arrays for the optimizer.
  virtual void Build(int slots, uint64_t seed) = 0;

  // Writes the loss to `sums` and, in training, keeps what Backward() needs. `mask`: per sample, or
  // null; both in device memory. `scale`: factor of the loss in the gradient.
  virtual void Forward(const BatchArrays& batch, const uint8_t* mask, bool training, float scale,
                       LossSums* sums) = 0;
  // Activations by layer name, in the order of Forward(), to locate the origin of NaN and infinity.
  virtual std::vector<LayerOutput> Activity() = 0;

  // For the last Forward() in training. Calls ready() once per variable, from the last layer to the
  // first.
  virtual void Backward(const BatchArrays& batch, const GradientReady& ready) = 0;

 protected:
  explicit Model(const ModelContext& context) : context_(context) {
    context_.variables = &variables_;
  }

  Variables variables_;
  ModelContext context_;
};

struct ResnetOptions {
  int64_t width = 16;  // channels of the first stage; each of the three others doubles them
  int64_t classes = 10;
  int64_t image = 32;  // height and width of an image
};

// He et al., "Deep residual learning for image recognition", 2016: 18 layers, basic blocks, with a
// single 3x3 convolution as the stem, for small images. Reads `image` (NHWC or NCHW, as in the
// context, three channels) and `label` (i64). Throws like MakeAlexnet().
std::unique_ptr<Model> MakeResnet(const ModelContext& context, const ResnetOptions& options);

struct AlexnetOptions {
  int64_t filters = 64;  // of the first convolution; the second has three times as many
  int64_t dense = 2048;  // size of each of the two hidden dense layers
  int64_t classes = 10;
  int64_t image = 32;  // height and width of an image, at least 7
};

// After Krizhevsky et al., "ImageNet classification with deep convolutional neural networks", 2012,
// for small images: two 5x5 convolutions, each with ReLU and overlapping max pooling, and three
// dense layers, which hold nearly all parameters. Without dropout and response normalisation. Reads
// the same fields as the ResNet. Throws Error (kInvalidArgument) for invalid options.
std::unique_ptr<Model> MakeAlexnet(const ModelContext& context, const AlexnetOptions& options);

struct DeepconnOptions {
  int64_t vocabulary = 0;    // number of tokens, including padding (0)
  int64_t max_tokens = 256;  // of a user's reviews, and of an item's
  int64_t dims = 64;         // embedding dimensions
  int64_t filters = 100;
  int kernel = 3;       // tokens that a filter spans
  int64_t latent = 64;  // output size of a tower
  int64_t factors = 8;  // of the factorisation machine
};

// Zheng, Noroozi and Yu, "Joint deep modeling of users and items using reviews for recommendation",
// 2017: one tower for the user's reviews and one for the item's, and a factorisation machine over
// their outputs. Reads `user_tokens` and `item_tokens` (i32 (batch, max_tokens), padded with 0) and
// `rating` (f32); the loss is the squared error. Throws Error (kInvalidArgument) for invalid
// options.
std::unique_ptr<Model> MakeDeepconn(const ModelContext& context, const DeepconnOptions& options);
// The operations that ModelContext::placement can place. A variable is on the device that reads it.
ModelGraph DeepconnGraph();

}  // namespace recpack::train
