#include "src/train/layers/stage.h"

namespace recpack::train {
namespace {

void ReluBackward(const ModelContext& context, const Activations& y) {
  context.ops->ActivateBackward(Activation::kRelu, y.value, y.gradient, y.gradient);
}

// For ConvolutionLayer and DenseLayer.
template <typename Layer>
class LayerStage final : public Stage {
 public:
  LayerStage(const std::string& name, Layer layer, Shape out_shape, bool relu)
      : Stage(name), layer_(std::move(layer)), out_shape_(std::move(out_shape)), relu_(relu) {}

  Shape out_shape() const override { return out_shape_; }
  void Build(const ModelContext& context) override { layer_.Build(context); }
  void Forward(const ModelContext& context, const void* x, bool training) override {
    layer_.Forward(context, x, training);
    if (relu_) context.ops->Activate(Activation::kRelu, out().value, out().value);
  }
  void Backward(const ModelContext& context, const void* more, const void* x, void* dx,
                const GradientReady& ready) override {
    AddGradient(context, more, out());
    if (relu_) ReluBackward(context, out());
    layer_.Backward(context, x, dx, ready);
  }
  Activations& out() override { return layer_.out(); }

 private:
  Layer layer_;
  const Shape out_shape_;
  const bool relu_;
};

class NormStage final : public Stage {
 public:
  NormStage(const ModelContext& context, const std::string& name, const Shape& shape)
      : Stage(name), shape_(shape), norm_(context, name, shape, false, true) {}

  Shape out_shape() const override { return shape_; }
  void Build(const ModelContext& context) override { norm_.Build(context); }
  void Forward(const ModelContext& context, const void* x, bool training) override {
    norm_.Forward(context, x, nullptr, training);
  }
  void Backward(const ModelContext& context, const void* more, const void* x, void* dx,
                const GradientReady& ready) override {
    norm_.Backward(context, more, x, dx, nullptr, ready);
  }
  Activations& out() override { return norm_.out(); }

 private:
  const Shape shape_;
  NormLayer norm_;
};

class PoolingStage final : public Stage {
 public:
  PoolingStage(const std::string& name, const PoolingSpec& spec)
      : Stage(name), out_shape_(spec.out_shape()), pooling_(spec) {}

  Shape out_shape() const override { return out_shape_; }
  void Build(const ModelContext& context) override { pooling_.Build(context); }
  void Forward(const ModelContext&, const void* x, bool) override { pooling_.Forward(x); }
  void Backward(const ModelContext& context, const void* more, const void*, void* dx,
                const GradientReady&) override {
    AddGradient(context, more, out());
    pooling_.Backward(dx);
  }
  Activations& out() override { return pooling_.out(); }

 private:
  const Shape out_shape_;
  PoolingLayer pooling_;
};

class FlatteningStage final : public Stage {
 public:
  FlatteningStage(const std::string& name, const Shape& shape) : Stage(name), shape_(shape) {}

  Shape out_shape() const override { return {shape_[0], Elements(shape_) / shape_[0]}; }
  void Build(const ModelContext& context) override {
    flat_.Allocate(context, shape_, context.type);
    flat_.value.layout = flat_.gradient.layout = ImageLayout::kNchw;
  }
  void Forward(const ModelContext& context, const void* x, bool) override {
    context.ops->Convert(AsPicture(context, const_cast<void*>(x)), flat_.value);
  }
  void Backward(const ModelContext& context, const void* more, const void*, void* dx,
                const GradientReady&) override {
    AddGradient(context, more, flat_);
    context.ops->Convert(flat_.gradient, AsPicture(context, dx));
  }
  Activations& out() override { return flat_; }

 private:
  Tensor AsPicture(const ModelContext& context, void* data) const {
    return {data, context.type, shape_, context.layout};
  }

  const Shape shape_;
  Activations flat_;
};

}  // namespace

void AddGradient(const ModelContext& context, const void* more, const Activations& out) {
  if (!more) return;
  Tensor part = out.gradient;
  part.data = const_cast<void*>(more);
  context.ops->Add(part, out.gradient);
}

std::unique_ptr<Stage> MakeConvolutionStage(const ModelContext& context, const std::string& name,
                                            const ConvolutionSpec& spec, bool relu) {
  return std::make_unique<LayerStage<ConvolutionLayer>>(name, ConvolutionLayer(context, name, spec),
                                                        spec.out_shape(), relu);
}

std::unique_ptr<Stage> MakeNormStage(const ModelContext& context, const std::string& name,
                                     const Shape& shape) {
  return std::make_unique<NormStage>(context, name, shape);
}

std::unique_ptr<Stage> MakePoolingStage(const std::string& name, PoolingSpec spec) {
  spec.name = name;
  return std::make_unique<PoolingStage>(name, spec);
}

std::unique_ptr<Stage> MakeDenseStage(const ModelContext& context, const std::string& name,
                                      const DenseSpec& spec, bool relu) {
  return std::make_unique<LayerStage<DenseLayer>>(name, DenseLayer(context, name, spec),
                                                  Shape{spec.batch, spec.out}, relu);
}

std::unique_ptr<Stage> MakeFlatteningStage(const std::string& name, const Shape& shape) {
  return std::make_unique<FlatteningStage>(name, shape);
}

}  // namespace recpack::train
