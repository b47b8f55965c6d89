#include "src/train/models/review_tower.h"

namespace recpack::train {
namespace {

// Text is an image of height 1. No padding, since token lists are already padded to length.
ConvolutionSpec ConvolutionOver(const ModelContext& context, const DeepconnOptions& options) {
  return {.batch = context.batch,
          .in_channels = options.dims,
          .height = 1,
          .width = options.max_tokens,
          .out_channels = options.filters,
          .kernel_width = options.kernel,
          .bias = true,
          .type = context.type,
          .layout = context.layout};
}

PoolingSpec PoolingOver(const ConvolutionSpec& convolution, const DeepconnOptions& options,
                        const std::string& name) {
  const int window =
      options.pool_window > 0 ? options.pool_window : static_cast<int>(convolution.out_width());
  return {.kind = PoolingKind::kMax,
          .batch = convolution.batch,
          .channels = convolution.out_channels,
          .height = 1,
          .width = convolution.out_width(),
          .window_height = 1,
          .window_width = window,
          .stride = options.pool_window > 0 ? options.pool_stride : 1,
          .type = convolution.type,
          .layout = convolution.layout,
          .name = name + ".pool"};
}

}  // namespace

ReviewTower::ReviewTower(const ModelContext& context, Placement& placement, const std::string& name,
                         const WordTable& table, const DeepconnOptions& options)
    : name_(name),
      placement_(placement),
      embedding_at_(placement.At(table.operation)),
      convolution_at_(placement.At(name + ".conv")),
      pooling_at_(placement.At(name + ".pool")),
      tanh_at_(placement.At(name + ".tanh")),
      flatten_at_(placement.At(name + ".flatten")),
      dense_at_(placement.At(name + ".fc")),
      relu_at_(placement.At(name + ".relu")),
      embedding_spec_{.batch = context.batch,
                      .length = options.max_tokens,
                      .vocabulary = options.vocabulary,
                      .dims = options.dims,
                      .id_type = ElementType::kI32,
                      .type = context.type,
                      .layout = context.layout,
                      .name = name + ".embedding"},
      table_(table),
      convolution_(context, name + ".conv", ConvolutionOver(context, options)),
      flattens_(options.pool_window > 0),
      pooling_spec_(PoolingOver(convolution_.spec(), options, name)),
      pooling_(pooling_spec_),
      dense_(context, name + ".fc",
             {.batch = context.batch,
              .in = options.filters * pooling_spec_.out_width(),
              .out = options.latent,
              .type = context.type,
              .out_type = context.type},
             Initial::kHeNormal),
      tokens_link_(placement.first(), embedding_at_, placement.transfers()),
      to_convolution_(embedding_at_, convolution_at_, placement.transfers()),
      to_pooling_(convolution_at_, pooling_at_, placement.transfers()),
      to_tanh_(pooling_at_, tanh_at_, placement.transfers()),
      to_flatten_(tanh_at_, flatten_at_, placement.transfers()),
      to_dense_(flattens_ ? flatten_at_ : tanh_at_, dense_at_, placement.transfers()),
      to_relu_(dense_at_, relu_at_, placement.transfers()) {}

ModelGraph ReviewTower::Graph(const std::string& name, const std::string& lookup,
                              const DeepconnOptions& options) {
  ModelGraph graph;
  std::string last = lookup;
  for (const char* part : {".conv", ".pool", ".tanh", ".flatten", ".fc", ".relu"}) {
    if (part == std::string(".flatten") && options.pool_window == 0) continue;
    graph.push_back({name + part, {last}});
    last = graph.back().name;
  }
  return graph;
}

void ReviewTower::Build(const ModelContext& context) {
  embedding_at_.Do([&] {
    const ModelContext here = On(embedding_at_, context);
    embedding_ = here.ops->MakeEmbedding(embedding_spec_);
    embedded_.Allocate(here, embedding_spec_.out_shape(), context.type);
    tokens_link_.Build(here, static_cast<size_t>(embedding_spec_.batch * embedding_spec_.length) *
                                 sizeof(int32_t));
  });
  convolution_at_.Do([&] { convolution_.Build(On(convolution_at_, context)); });
  pooling_at_.Do([&] { pooling_.Build(On(pooling_at_, context)); });
  dense_at_.Do([&] { dense_.Build(On(dense_at_, context)); });
  placement_.Join();
  convolution_at_.Do([&] { to_convolution_.Build(On(convolution_at_, context), embedded_); });
  pooling_at_.Do([&] { to_pooling_.Build(On(pooling_at_, context), convolution_.out()); });
  tanh_at_.Do([&] { to_tanh_.Build(On(tanh_at_, context), pooling_.out()); });
  relu_at_.Do([&] { to_relu_.Build(On(relu_at_, context), dense_.out()); });
  placement_.Join();
  if (flattens_) {
    flatten_at_.DoAndJoin([&] {
      const ModelContext here = On(flatten_at_, context);
      to_flatten_.Build(here, to_tanh_.here());
      flat_.Allocate(here, pooling_spec_.out_shape(), context.type);
      flat_.value.layout = flat_.gradient.layout = ImageLayout::kNchw;
    });
  }
  dense_at_.DoAndJoin(
      [&] { to_dense_.Build(On(dense_at_, context), flattens_ ? flat_ : to_tanh_.here()); });
}

ReviewTower::Pieces ReviewTower::Forward(const ModelContext& context, const BatchArrays& batch,
                                         bool training, LossSums* sums) {
  return {
      [&, training, sums] {
        tokens_ = tokens_link_.Forward(batch.Raw(name_ + "_tokens"));
        embedding_at_.Do([&, training, sums] {
          if (training && table_.first) context.need(table_.variable);
          embedding_->Forward(tokens_, context.variables->At(table_.variable), embedded_.value.data,
                              sums);
        });
      },
      [&, training] {
        to_convolution_.Forward();
        convolution_at_.Do([&, training] {
          convolution_.Forward(context, to_convolution_.here().value.data, training);
        });
      },
      [&] {
        to_pooling_.Forward();
        pooling_at_.Do([&] { pooling_.Forward(to_pooling_.here().value.data); });
      },
      [&] {
        to_tanh_.Forward();
        tanh_at_.Do([&] {
          const Tensor& pooled = to_tanh_.here().value;
          tanh_at_.ops().Activate(Activation::kTanh, pooled, pooled);
        });
      },
      [&] {
        if (!flattens_) return;
        to_flatten_.Forward();
        flatten_at_.Do([&] { flatten_at_.ops().Convert(to_flatten_.here().value, flat_.value); });
      },
      [&, training] {
        to_dense_.Forward();
        dense_at_.Do(
            [&, training] { dense_.Forward(context, to_dense_.here().value.data, training); });
      },
      [&] {
        to_relu_.Forward();
        relu_at_.Do([&] { relu_at_.ops().Activate(Activation::kRelu, out().value, out().value); });
      }};
}

ReviewTower::Pieces ReviewTower::Backward(const ModelContext& context, const GradientReady& ready) {
  return {[&] {
            relu_at_.Do([&] {
              relu_at_.ops().ActivateBackward(Activation::kRelu, out().value, out().gradient,
                                              out().gradient);
            });
            to_relu_.Backward();
          },
          [&] {
            dense_at_.Do([&] {
              const Activations& read = to_dense_.here();
              dense_.Backward(context, read.value.data, read.gradient.data, ready);
            });
            to_dense_.Backward();
          },
          [&] {
            if (!flattens_) return;
            flatten_at_.Do(
                [&] { flatten_at_.ops().Convert(flat_.gradient, to_flatten_.here().gradient); });
            to_flatten_.Backward();
          },
          [&] {
            tanh_at_.Do([&] {
              const Activations& pooled = to_tanh_.here();
              tanh_at_.ops().ActivateBackward(Activation::kTanh, pooled.value, pooled.gradient,
                                              pooled.gradient);
            });
            to_tanh_.Backward();
          },
          [&] {
            pooling_at_.Do([&] { pooling_.Backward(to_pooling_.here().gradient.data); });
            to_pooling_.Backward();
          },
          [&] {
            convolution_at_.Do([&] {
              const Activations& embedded = to_convolution_.here();
              convolution_.Backward(context, embedded.value.data, embedded.gradient.data, ready);
            });
            to_convolution_.Backward();
          },
          [&] {
            embedding_at_.Do([&] {
              embedding_->Backward(tokens_, embedded_.gradient.data,
                                   context.variables->Gradient(table_.variable), !table_.second);
              if (table_.first) ready(table_.variable);
            });
          }};
}

void ReviewTower::Name(std::vector<LayerOutput>& all) {
  all.push_back({name_ + ".embedding", embedded_.value, &embedding_at_});
  all.push_back({name_ + ".conv", convolution_.out().value, &convolution_at_});
  all.push_back({name_ + ".pool", to_tanh_.here().value, &tanh_at_});
  all.push_back({name_ + ".fc", out().value, &relu_at_});
}

}  // namespace recpack::train
