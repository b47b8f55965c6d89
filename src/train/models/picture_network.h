// Networks that classify pictures by operations that run one after another.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/train/layers/transfer.h"
#include "src/train/models/model.h"

namespace recpack::train {

// Reads `image` (in the context's type and layout, three channels) and `label` (i64); the loss is
// the softmax cross-entropy of the last stage's output, (batch, classes) f32. Each stage can be
// placed on a device of its own, and so can the loss ("loss"): activations are copied where the
// device changes, and gradients back.
class PictureNetwork final : public Model {
 public:
  // `name`, `options`: as of Model. `image`: height and width of a picture.
  PictureNetwork(const ModelContext& context, std::string name, std::string options, int64_t image);

  // Adds a stage that was made with context(), and returns the shape of its output: the stages'
  // variables are numbered in the order in which they are made, so each is added before the next.
  Shape Add(std::unique_ptr<Stage> stage);
  // The shape of a batch of pictures.
  Shape in_shape() const { return {context_.batch, 3, image_, image_}; }

  std::string name() const override { return name_; }
  std::string options() const override { return options_; }
  ModelGraph Graph() const override;

  void Build(int slots, uint64_t seed) override;
  void Forward(const BatchArrays& batch, const uint8_t* mask, bool training, float scale,
               LossSums* sums) override;
  void Backward(const BatchArrays& batch, const GradientReady& ready) override;
  std::vector<LayerOutput> Activity() override;

 private:
  struct PlacedStage {
    std::unique_ptr<Stage> stage;
    DeviceQueue* queue = nullptr;
    ModelContext context = {};                   // with the queue's device
    std::unique_ptr<ActivationLink> input = {};  // null: the first stage
  };
  // The loss, and the copies to its device.
  struct PlacedLoss {
    PlacedLoss(Placement& placement, PlacedStage& last);
    DeviceQueue& queue;
    ActivationLink logits;
    InputLink labels, mask;
    PlacedSums sums;
  };
  void Place();
  void BuildLoss();

  const std::string name_, options_;
  const int64_t image_;
  std::vector<PlacedStage> stages_;
  std::map<std::string, size_t> stage_of_variable_;
  // From Build() on.
  std::unique_ptr<Placement> own_placement_;  // null: the context's
  Placement* placement_ = nullptr;
  std::optional<InputLink> pictures_link_;
  std::optional<PlacedLoss> loss_;
  const void* pictures_ = nullptr;  // of the last Forward(), on the first stage's device
};

// The end of a network: average pooling over the whole picture (`avgpool`), and a dense layer
// (`fc`).
void AddAverageAndDense(PictureNetwork& network, const Shape& in, int64_t classes);

// A dense layer over `in`, which is (batch, values), without an activation: the logits.
DenseSpec MakeLogitsSpec(const ModelContext& context, int64_t in, int64_t classes);
// The same for a hidden layer, whose output has the activations' type.
DenseSpec MakeHiddenSpec(const ModelContext& context, int64_t in, int64_t out);

}  // namespace recpack::train
