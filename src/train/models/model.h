// A network with its loss, on one device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/train/ops/layers.h"
#include "src/train/ops/placement.h"

namespace recpack::train {

// One batch as a model reads it: arrays in the device's memory, by the names of the loader's
// fields.
class BatchArrays {
 public:
  virtual ~BatchArrays() = default;
  // Throws Error (kInvalidArgument) for a name that is not there.
  virtual const void* Raw(const std::string& name) const = 0;
};

// What a layer makes of a batch.
struct LayerOutput {
  std::string name;
  Tensor value;
  DeviceQueue* queue = nullptr;  // of the device that it lies on; null: of the model's only one
};

// Used by the thread that its Ops is attached to.
class Model {
 public:
  virtual ~Model() = default;

  // "resnet", and its options as a JSON object: a checkpoint of others is refused.
  virtual std::string name() const = 0;
  virtual std::string options() const = 0;

  Variables& variables() noexcept { return variables_; }
  const ModelContext& context() const noexcept { return context_; }

  // ModelContext::need.
  void WaitBefore(std::function<void(size_t variable)> need) { context_.need = std::move(need); }

  // Memory for activations, variables and `slots` arrays of the optimizer.
  virtual void Build(int slots, uint64_t seed) = 0;

  // Writes the loss to `sums` and, in training, keeps what Backward() needs. `mask`: by sample, or
  // null; both in the device's memory. `scale`: of the loss, for its gradient.
  virtual void Forward(const BatchArrays& batch, const uint8_t* mask, bool training, float scale,
                       LossSums* sums) = 0;
  // Activations by the names of their layers, in the order of Forward(): to find where numbers went
  // wrong.
  virtual std::vector<LayerOutput> Activity() = 0;

  // Of the last Forward() in training. ready() is called from the last layer to the first, each
  // variable once.
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
  int64_t image = 32;  // height and width of a picture
};

// He et al., "Deep residual learning for image recognition", 2016: 18 layers, basic blocks, with a
// stem of one 3x3 convolution for small pictures. Reads `image` (NHWC or NCHW, as the context says,
// three channels) and `label` (i64). Throws as MakeAlexnet().
std::unique_ptr<Model> MakeResnet(const ModelContext& context, const ResnetOptions& options);

struct AlexnetOptions {
  int64_t filters = 64;  // of the first convolution; the second has three times as many
  int64_t dense = 2048;  // values of each of the two hidden dense layers
  int64_t classes = 10;
  int64_t image = 32;  // height and width of a picture, at least 7
};

// After Krizhevsky et al., "ImageNet classification with deep convolutional neural networks", 2012,
// for small pictures: two convolutions of 5x5, each with ReLU and overlapping max pooling, and
// three dense layers, which hold nearly all variables. Neither dropout nor response normalisation.
// Reads what the ResNet reads. Throws Error (kInvalidArgument) for options that make no network.
std::unique_ptr<Model> MakeAlexnet(const ModelContext& context, const AlexnetOptions& options);

struct DeepconnOptions {
  int64_t vocabulary = 0;    // tokens, padding (0) included
  int64_t max_tokens = 256;  // of a user's and of an item's reviews, each
  int64_t dims = 64;         // of a token's vector
  int64_t filters = 100;
  int kernel = 3;       // tokens that a filter sees
  int64_t latent = 64;  // values that a tower ends in
  int64_t factors = 8;  // of the factorisation machine
};

// Zheng, Noroozi and Yu, "Joint deep modeling of users and items using reviews for recommendation",
// 2017: a tower for the user's reviews and one for the item's, and a factorisation machine over
// what they end in. Reads `user_tokens` and `item_tokens` (i32 (batch, max_tokens), padded with 0)
// and `rating` (f32); the loss is the squared error. Throws Error (kInvalidArgument) for options
// that make no network.
std::unique_ptr<Model> MakeDeepconn(const ModelContext& context, const DeepconnOptions& options);
// What of it ModelContext::placement places; a variable lies where it is read.
ModelGraph DeepconnGraph();

}  // namespace recpack::train
