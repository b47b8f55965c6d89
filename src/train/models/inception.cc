#include "src/train/models/inception.h"

#include <algorithm>
#include <vector>

#include "src/base/format.h"

namespace recpack::train {
namespace {

class NormedConvolution final : public Stage {
 public:
  NormedConvolution(const ModelContext& context, const std::string& name,
                    const ConvolutionSpec& spec)
      : Stage(name),
        convolution_(context, name + ".conv", spec),
        norm_(context, name + ".bn", spec.out_shape(), false, true, kInceptionEpsilon) {}

  Shape out_shape() const override { return convolution_.spec().out_shape(); }
  void Build(const ModelContext& context) override {
    convolution_.Build(context);
    norm_.Build(context);
  }
  void Forward(const ModelContext& context, const void* x, bool training) override {
    convolution_.Forward(context, x, training);
    norm_.Forward(context, convolution_.out().value.data, nullptr, training);
  }
  void Backward(const ModelContext& context, const void* more, const void* x, void* dx,
                const GradientReady& ready) override {
    Activations& between = convolution_.out();
    norm_.Backward(context, more, between.value.data, between.gradient.data, nullptr, ready);
    convolution_.Backward(context, x, dx, ready);
  }
  Activations& out() override { return norm_.out(); }
  void AddOutputs(std::vector<LayerOutput>& all) override {
    all.push_back({name() + ".conv", convolution_.out().value});
    all.push_back({name() + ".bn", out().value});
  }

 private:
  ConvolutionLayer convolution_;
  NormLayer norm_;
};

// The stages of one branch, from the module's input on.
using Branch = std::vector<std::unique_ptr<Stage>>;

class Inception final : public Stage {
 public:
  Inception(const ModelContext& context, const std::string& name, const Shape& in,
            const InceptionShape& shape)
      : Stage(name), in_(in) {
    const auto convolution = [&](const char* part, const Shape& of, int64_t channels, int kernel) {
      return MakeNormedConvolution(context, format("{}.{}", name, part),
                                   SquareConvolution(context, of, channels, kernel, 1));
    };
    Add(0, convolution("branch1", in, shape.direct, 1));
    Add(1, convolution("branch2.0", in, shape.reduced, 1));
    Add(1, convolution("branch2.1", End(1), shape.wide, 3));
    Add(2, convolution("branch3.0", in, shape.reduced2, 1));
    Add(2, convolution("branch3.1", End(2), shape.wide2, 3));
    PoolingSpec pooling = SquarePooling(context, in, PoolingKind::kMax, 3, 1);
    pooling.pad = 1;
    Add(3, MakePoolingStage(name + ".branch4.0", pooling));
    Add(3, convolution("branch4.1", End(3), shape.pooled, 1));
  }

  Shape out_shape() const override {
    Shape shape = in_;
    shape[1] = 0;
    for (const Branch& branch : branches_) shape[1] += branch.back()->out_shape()[1];
    return shape;
  }

  void Build(const ModelContext& context) override {
    for (Branch& branch : branches_) {
      for (const auto& stage : branch) stage->Build(context);
    }
    out_.Allocate(context, out_shape(), context.type);
    part_of_dx_.Allocate(context, in_, context.type);
    for (const Branch& branch : branches_) {
      values_.push_back(branch.back()->out().value);
      gradients_.push_back(branch.back()->out().gradient);
    }
  }

  void Forward(const ModelContext& context, const void* x, bool training) override {
    for (Branch& branch : branches_) {
      const void* input = x;
      for (const auto& stage : branch) {
        stage->Forward(context, input, training);
        input = stage->out().value.data;
      }
    }
    context.ops->Concatenate(values_, out_.value);
  }

  void Backward(const ModelContext& context, const void* more, const void* x, void* dx,
                const GradientReady& ready) override {
    AddGradient(context, more, out_);
    context.ops->Split(out_.gradient, gradients_);
    for (size_t i = branches_.size(); i-- > 0;) {
      const bool first = i + 1 == branches_.size();
      BranchBackward(context, branches_[i], x, first ? dx : part_of_dx_.gradient.data, ready);
      if (!first) context.ops->Add(part_of_dx_.gradient, WithData(part_of_dx_.gradient, dx));
    }
  }

  Activations& out() override { return out_; }

  void AddOutputs(std::vector<LayerOutput>& all) override {
    for (Branch& branch : branches_) {
      for (const auto& stage : branch) stage->AddOutputs(all);
    }
    all.push_back({name(), out_.value});
  }

 private:
  void Add(size_t branch, std::unique_ptr<Stage> stage) {
    branches_[branch].push_back(std::move(stage));
  }
  Shape End(size_t branch) const { return branches_[branch].back()->out_shape(); }

  static Tensor WithData(Tensor tensor, void* data) {
    tensor.data = data;
    return tensor;
  }

  static void BranchBackward(const ModelContext& context, Branch& branch, const void* x, void* dx,
                             const GradientReady& ready) {
    for (size_t i = branch.size(); i-- > 0;) {
      Activations* const before = i > 0 ? &branch[i - 1]->out() : nullptr;
      branch[i]->Backward(context, nullptr, before ? before->value.data : x,
                          before ? before->gradient.data : dx, ready);
    }
  }

  const Shape in_;
  std::array<Branch, 4> branches_;
  Activations out_;
  Activations part_of_dx_;                  // its gradient: that of x through one branch
  std::vector<Tensor> values_, gradients_;  // of the branches' ends
};

}  // namespace

std::unique_ptr<Stage> MakeNormedConvolution(const ModelContext& context, const std::string& name,
                                             const ConvolutionSpec& spec) {
  return std::make_unique<NormedConvolution>(context, name, spec);
}

std::unique_ptr<Stage> MakeInception(const ModelContext& context, const std::string& name,
                                     const Shape& in, const InceptionShape& shape) {
  return std::make_unique<Inception>(context, name, in, shape);
}

}  // namespace recpack::train
