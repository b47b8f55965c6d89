// A network with its loss, on one device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "recpack/train/layers.h"

namespace recpack {

// One batch as a model reads it: arrays in the device's memory, by the names of the loader's
// fields.
class BatchArrays {
 public:
  virtual ~BatchArrays() = default;
  // Throws Error (kInvalidArgument) for a name that is not there.
  virtual const void* Raw(const std::string& name) const = 0;
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
  virtual std::vector<std::pair<std::string, Tensor>> Activity() = 0;

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
// three channels) and `label` (i64).
std::unique_ptr<Model> MakeResnet(const ModelContext& context, const ResnetOptions& options);

}  // namespace recpack
