// Tower of the deepconn model: encodes the reviews of a user or an item.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/train/layers/placement.h"
#include "src/train/models/model.h"

namespace recpack::train {

// A table of words' vectors, as a tower reads it.
struct WordTable {
  std::string operation;  // that looks tokens up: "embedding"
  size_t variable = 0;
  // For two towers that read one table: the first tower's forward pass is before the second's, its
  // backward pass behind it. A tower with a table of its own is both.
  bool first = true, second = true;
};

// Embedding, convolution over tokens, maximum over time, tanh, dense layer with ReLU. tanh is
// monotonic, so the maximum is taken first, which leaves fewer values to apply it to. Maxima of
// several windows are flattened before the dense layer, channel first in every layout, so that
// variables do not depend on the layout. Each
// operation is enqueued on its device's queue; arguments passed by reference must stay valid until
// the placement is joined.
class ReviewTower {
 public:
  ReviewTower(const ModelContext& context, Placement& placement, const std::string& name,
              const WordTable& table, const DeepconnOptions& options);
  // Its operations from the convolution on, which reads `lookup`.
  static ModelGraph Graph(const std::string& name, const std::string& lookup,
                          const DeepconnOptions& options);

  // Joins the placement.
  void Build(const ModelContext& context);

  // Pieces of work to call in this order, possibly interleaved with those of other towers. Each
  // enqueues one operation on its device, with the copies it needs. `sums`: in memory of the
  // embedding's device; counts tokens out of range.
  using Pieces = std::vector<std::function<void()>>;
  Pieces Forward(const ModelContext& context, const BatchArrays& batch, bool training,
                 LossSums* sums);
  // Reads and overwrites out().gradient.
  Pieces Backward(const ModelContext& context, const GradientReady& ready);

  const WordTable& table() const noexcept { return table_; }
  DeviceQueue& embedding_queue() noexcept { return embedding_at_; }
  DeviceQueue& out_queue() noexcept { return relu_at_; }
  Activations& out() noexcept { return to_relu_.here(); }
  void Name(std::vector<LayerOutput>& all);

 private:
  const std::string name_;
  Placement& placement_;
  DeviceQueue &embedding_at_, &convolution_at_, &pooling_at_, &tanh_at_, &flatten_at_, &dense_at_,
      &relu_at_;

  const EmbeddingSpec embedding_spec_;
  const WordTable table_;
  std::unique_ptr<Embedding> embedding_;
  Activations embedded_;
  ConvolutionLayer convolution_;
  const bool flattens_;
  const PoolingSpec pooling_spec_;
  PoolingLayer pooling_;
  Activations flat_;  // if it flattens
  DenseLayer dense_;

  InputLink tokens_link_;
  const void* tokens_ = nullptr;  // of the last Forward()
  // tanh and ReLU work in place.
  ActivationLink to_convolution_, to_pooling_, to_tanh_, to_flatten_, to_dense_, to_relu_;
};

}  // namespace recpack::train
