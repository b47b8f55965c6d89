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

// Embedding, convolution over tokens, maximum over time, tanh, dense layer with ReLU. tanh is
// monotonic, so the maximum is taken first, which leaves fewer values to apply it to. Each
// operation is enqueued on its device's queue; arguments passed by reference must stay valid until
// the placement is joined.
class ReviewTower {
 public:
  ReviewTower(const ModelContext& context, Placement& placement, const std::string& name,
              const DeepconnOptions& options);
  static ModelGraph Graph(const std::string& name);

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

  DeviceQueue& embedding_queue() noexcept { return embedding_at_; }
  DeviceQueue& out_queue() noexcept { return relu_at_; }
  Activations& out() noexcept { return to_relu_.here(); }
  void Name(std::vector<LayerOutput>& all);

 private:
  const std::string name_;
  Placement& placement_;
  DeviceQueue &embedding_at_, &convolution_at_, &pooling_at_, &tanh_at_, &dense_at_, &relu_at_;

  const EmbeddingSpec embedding_spec_;
  const size_t table_;
  std::unique_ptr<Embedding> embedding_;
  Activations embedded_;
  ConvolutionLayer convolution_;
  PoolingLayer pooling_;
  DenseLayer dense_;

  InputLink tokens_link_;
  const void* tokens_ = nullptr;  // of the last Forward()
  // tanh and ReLU work in place.
  ActivationLink to_convolution_, to_pooling_, to_tanh_, to_dense_, to_relu_;
};

}  // namespace recpack::train
