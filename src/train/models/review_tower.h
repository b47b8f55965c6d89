// A tower of deepconn: what it reads one side's reviews with.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/train/models/model.h"
#include "src/train/ops/placement.h"

namespace recpack::train {

// Embedding, convolution over tokens, maximum over time, tanh, dense layer with ReLU. tanh rises,
// so that the maximum of its values is that of its maximum, which is taken first: fewer values to
// take it of. Each operation is given to the queue of its device; what is passed by reference has
// to stay until the placement was joined.
class ReviewTower {
 public:
  ReviewTower(const ModelContext& context, Placement& placement, const std::string& name,
              const DeepconnOptions& options);
  static ModelGraph Graph(const std::string& name);

  // Joins the placement.
  void Build(const ModelContext& context);

  // Pieces of work to be given in this order, between those of others: each gives one operation,
  // with what has to be moved for it, to its device. `sums`: in the memory of the embedding's
  // device; tokens that are out of range are added to it.
  using Pieces = std::vector<std::function<void()>>;
  Pieces Forward(const ModelContext& context, const BatchArrays& batch, bool training,
                 LossSums* sums);
  // Of out().gradient, which it changes.
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
  // tanh and ReLU are taken in place.
  ActivationLink to_convolution_, to_pooling_, to_tanh_, to_dense_, to_relu_;
};

}  // namespace recpack::train
