// One operation of a network whose operations run one after another, with its variables and its
// output.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/train/layers/layers.h"

namespace recpack::train {

// A layer's output for a batch.
struct LayerOutput {
  std::string name;
  Tensor value;
  // of the device that holds the value; null: of the model's only device
  DeviceQueue* queue = nullptr;
};

// The constructor declares variables, whose names begin with the stage's; Build() allocates memory.
// All members but name() and out_shape() are called on the stage's device.
class Stage {
 public:
  explicit Stage(std::string name) : name_(std::move(name)) {}
  virtual ~Stage() = default;

  const std::string& name() const noexcept { return name_; }
  virtual Shape out_shape() const = 0;

  virtual void Build(const ModelContext& context) = 0;
  virtual void Forward(const ModelContext& context, const void* x, bool training) = 0;
  // For the last Forward() in training. The gradient of the output is out().gradient, plus `more`
  // if not null. Writes the gradient of x, without more(), to `dx` unless that is null.
  virtual void Backward(const ModelContext& context, const void* more, const void* x, void* dx,
                        const GradientReady& ready) = 0;
  // An array that Backward() writes, to be added to dx: the reader saves a pass by adding it where
  // it reads dx. The same after every Build(); null: dx is complete.
  virtual const void* more() const { return nullptr; }
  virtual Activations& out() = 0;
  // Adds the outputs of its layers, in the order of Forward().
  virtual void AddOutputs(std::vector<LayerOutput>& all) { all.push_back({name_, out().value}); }

 private:
  const std::string name_;
};

// out().gradient += more, for stages that do not read it in parts.
void AddGradient(const ModelContext& context, const void* more, const Activations& out);

// The stages of one layer. `relu`: a ReLU in place behind the layer.
std::unique_ptr<Stage> MakeConvolutionStage(const ModelContext& context, const std::string& name,
                                            const ConvolutionSpec& spec, bool relu = false);
// Batch normalisation with ReLU.
std::unique_ptr<Stage> MakeNormStage(const ModelContext& context, const std::string& name,
                                     const Shape& shape);
std::unique_ptr<Stage> MakePoolingStage(const std::string& name, PoolingSpec spec);
std::unique_ptr<Stage> MakeDenseStage(const ModelContext& context, const std::string& name,
                                      const DenseSpec& spec, bool relu = false);
// Pictures of `shape` to (batch, values), channel first in every layout, so that the variables of
// the dense layer behind it do not depend on the layout.
std::unique_ptr<Stage> MakeFlatteningStage(const std::string& name, const Shape& shape);

}  // namespace recpack::train
