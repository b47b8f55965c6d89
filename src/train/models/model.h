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
#include "src/train/layers/stage.h"

namespace recpack::train {

// One batch as a model reads it: arrays in device memory, by the names of the loader's fields.
class BatchArrays {
 public:
  virtual ~BatchArrays() = default;
  // Throws Error (kInvalidArgument) for an unknown name.
  virtual const void* Raw(const std::string& name) const = 0;
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
  // The operations that ModelContext::placement can place. A variable is on the device that reads
  // it.
  virtual ModelGraph Graph() const = 0;

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

// The numbers of layers that there are, ascending.
std::vector<int> ResnetDepths();

struct ResnetOptions {
  int depth = 18;      // layers, one of ResnetDepths(): 18 and 34 have basic blocks
  int64_t width = 16;  // channels of the first stage; each of the three others doubles them
  int64_t classes = 10;
  int64_t image = 32;  // height and width of an image
  // Kernel of the first convolution: 3, for small images; or 7 with a stride of 2, and 3x3 max
  // pooling with a stride of 2, as published for ImageNet.
  int stem = 3;
};

// He et al., "Deep residual learning for image recognition", 2016, with the stride of a bottleneck
// in its 3x3 convolution, as torchvision has it; the names of the variables are torchvision's.
// Reads `image` (NHWC or NCHW, as in the context, three channels) and `label` (i64). Throws like
// MakeAlexnet().
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

// The numbers of layers that there are, ascending.
std::vector<int> VggDepths();

struct VggOptions {
  int depth = 16;        // layers with weights, one of VggDepths()
  int64_t width = 64;    // channels of the first stage; published: 64
  int64_t dense = 4096;  // size of each of the two hidden dense layers
  int64_t classes = 1000;
  int64_t image = 224;  // height and width of an image, at least 32
};

// Simonyan and Zisserman, "Very deep convolutional networks for large-scale image recognition",
// 2015, with batch normalisation behind each convolution (Ioffe and Szegedy, 2015) and without
// dropout: torchvision's vgg11_bn to vgg19_bn, whose names the variables have. The dense layers
// read the (image / 32)^2 places that the five poolings leave, and no adaptive pooling to 7x7 comes
// between. Reads the same fields as the ResNet. Throws like MakeAlexnet().
std::unique_ptr<Model> MakeVgg(const ModelContext& context, const VggOptions& options);

struct GooglenetOptions {
  int64_t width = 64;  // channels of the first convolution, a multiple of 8; published: 64
  int64_t classes = 1000;
  int64_t image = 224;  // height and width of an image, at least 16, or 4 with a stem of 3
  // Kernel of the first convolution: 7 with a stride of 2, as published; or 3, for small images,
  // without the first two poolings either.
  int stem = 7;
};

// Szegedy et al., "Going deeper with convolutions", 2015: Inception v1, with batch normalisation
// behind each convolution, and without the auxiliary classifiers, dropout and response
// normalisation. As torchvision's googlenet, whose names the variables have: the third branch of a
// module has a 3x3 convolution instead of 5x5, and normalisation adds 0.001 to the variance. All
// numbers of channels are in proportion to `width`. Reads the same fields as the ResNet. Throws
// like MakeAlexnet().
std::unique_ptr<Model> MakeGooglenet(const ModelContext& context, const GooglenetOptions& options);

// Where the vectors of words are.
enum class WordTables : uint8_t {
  kShared,    // in one table for both towers, as published
  kSeparate,  // in a table of each tower's own
};

struct DeepconnOptions {
  int64_t vocabulary = 0;    // number of tokens, including padding (0)
  int64_t max_tokens = 256;  // of a user's reviews, and of an item's
  int64_t dims = 64;         // embedding dimensions
  int64_t filters = 100;
  int kernel = 3;       // tokens that a filter spans
  int64_t latent = 64;  // output size of a tower
  int64_t factors = 8;  // of the factorisation machine
  WordTables tables = WordTables::kShared;
  // Positions whose maximum is taken, and the distance from one window to the next; the maxima of
  // all windows, one behind the other, are what the dense layer reads. Window 0: one maximum over
  // all positions.
  int pool_window = 0, pool_stride = 1;
};

// Zheng, Noroozi and Yu, "Joint deep modeling of users and items using reviews for recommendation",
// 2017: one tower for the user's reviews and one for the item's, and a factorisation machine over
// their outputs. Reads `user_tokens` and `item_tokens` (i32 (batch, max_tokens), padded with 0) and
// `rating` (f32); the loss is the squared error. Throws Error (kInvalidArgument) for invalid
// options.
std::unique_ptr<Model> MakeDeepconn(const ModelContext& context, const DeepconnOptions& options);
// Model::Graph() of a deepconn with these options. A shared table of words is read by one
// operation, "embedding", for both towers.
ModelGraph DeepconnGraph(const DeepconnOptions& options);

}  // namespace recpack::train
