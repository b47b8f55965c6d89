// Residual block of a ResNet: convolutions with batch normalisation, and a shortcut around them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/train/layers/stage.h"

namespace recpack::train {

struct BlockShape {
  // Three convolutions, 1x1, 3x3 and 1x1, whose last one has four times as many channels; otherwise
  // two of 3x3.
  bool bottleneck = false;
  int64_t channels = 0;  // of the 3x3 convolutions
  int stride = 1;        // of the first 3x3 convolution

  int64_t out_channels() const { return bottleneck ? 4 * channels : channels; }
};

// The shortcut is the identity, or a 1x1 convolution if the shape changes.
class ResidualBlock final : public Stage {
 public:
  ResidualBlock(const ModelContext& context, const std::string& name, const Shape& in,
                const BlockShape& shape);

  Shape out_shape() const override { return units_.back().convolution.spec().out_shape(); }
  void Build(const ModelContext& context) override;
  void Forward(const ModelContext& context, const void* x, bool training) override;
  void Backward(const ModelContext& context, const void* more, const void* x, void* dx,
                const GradientReady& ready) override;
  // The gradient of x through the shortcut.
  const void* more() const override { return around_gradient_.gradient.data; }
  Activations& out() override { return units_.back().norm.out(); }
  void AddOutputs(std::vector<LayerOutput>& all) override;

 private:
  struct Unit {
    ConvolutionLayer convolution;
    NormLayer norm;
  };

  std::vector<Unit> units_;
  std::optional<ConvolutionLayer> around_;
  std::optional<NormLayer> around_norm_;
  Activations around_gradient_;  // gradient of x through the shortcut
};

}  // namespace recpack::train
