#include "src/train/models/picture_network.h"

#include <utility>

namespace recpack::train {
namespace {

constexpr char kLoss[] = "loss";

}  // namespace

PictureNetwork::PictureNetwork(const ModelContext& context, std::string name, std::string options,
                               int64_t image)
    : Model(context), name_(std::move(name)), options_(std::move(options)), image_(image) {}

Shape PictureNetwork::Add(std::unique_ptr<Stage> stage) {
  const std::vector<VariableSpec>& specs = variables_.specs();
  for (size_t i = stage_of_variable_.size(); i < specs.size(); ++i) {
    stage_of_variable_[specs[i].name] = stages_.size();
  }
  Shape shape = stage->out_shape();
  stages_.push_back({.stage = std::move(stage)});
  return shape;
}

ModelGraph PictureNetwork::Graph() const {
  ModelGraph graph;
  std::string before = "image";
  for (const PlacedStage& at : stages_) {
    graph.push_back({at.stage->name(), {before}});
    before = at.stage->name();
  }
  graph.push_back({kLoss, {before, "label"}});
  return graph;
}

PictureNetwork::PlacedLoss::PlacedLoss(Placement& placement, PlacedStage& last)
    : queue(placement.At(kLoss)),
      logits(*last.queue, queue, placement.transfers()),
      labels(placement.first(), queue, placement.transfers()),
      mask(placement.first(), queue, placement.transfers()),
      sums(queue) {}

void PictureNetwork::Place() {
  if (!context_.placement) own_placement_ = std::make_unique<Placement>(*context_.ops);
  placement_ = own_placement_ ? own_placement_.get() : context_.placement;
  for (size_t i = 0; i < stages_.size(); ++i) {
    PlacedStage& at = stages_[i];
    at.queue = &placement_->At(at.stage->name());
    at.context = On(*at.queue, context_);
    if (i == 0) continue;
    at.input =
        std::make_unique<ActivationLink>(*stages_[i - 1].queue, *at.queue, placement_->transfers());
  }
  pictures_link_.emplace(placement_->first(), *stages_[0].queue, placement_->transfers());
  loss_.emplace(*placement_, stages_.back());
}

void PictureNetwork::Build(int slots, uint64_t seed) {
  Place();
  variables_.Allocate(
      [this](const VariableSpec& variable) -> DeviceQueue& {
        return *stages_[stage_of_variable_.at(variable.name)].queue;
      },
      slots, seed);
  for (PlacedStage& at : stages_) at.queue->Do([&at] { at.stage->Build(at.context); });
  placement_->Join();
  for (size_t i = 1; i < stages_.size(); ++i) {
    PlacedStage &from = stages_[i - 1], &to = stages_[i];
    to.queue->DoAndJoin([&] { to.input->Build(to.context, from.stage->out()); });
    from.queue->DoAndJoin([&] { to.input->BuildMore(from.context, to.stage->more()); });
  }
  stages_[0].queue->DoAndJoin([this] {
    const Tensor pictures{nullptr, context_.type, in_shape()};
    pictures_link_->Build(stages_[0].context, pictures.bytes());
  });
  BuildLoss();
}

void PictureNetwork::BuildLoss() {
  loss_->queue.DoAndJoin([this] {
    const ModelContext here = On(loss_->queue, context_);
    const auto batch = static_cast<size_t>(context_.batch);
    loss_->logits.Build(here, stages_.back().stage->out());
    loss_->labels.Build(here, batch * sizeof(int64_t));
    loss_->mask.Build(here, batch);
  });
  if (&loss_->queue != &placement_->first()) loss_->sums.Build();
}

void PictureNetwork::Forward(const BatchArrays& batch, const uint8_t* mask, bool training,
                             float scale, LossSums* sums) {
  pictures_ = pictures_link_->Forward(batch.Raw("image"));
  const void* x = pictures_;
  for (PlacedStage& at : stages_) {
    if (at.input) {
      at.input->Forward();
      x = at.input->here().value.data;
    }
    at.queue->Do([&at, x, training] { at.stage->Forward(at.context, x, training); });
  }
  loss_->logits.Forward();
  const void* const labels = loss_->labels.Forward(batch.Raw("label"));
  const void* const counted = mask ? loss_->mask.Forward(mask) : nullptr;
  LossSums* const here = loss_->sums.Begin(sums);
  loss_->queue.Do([this, labels, counted, training, scale, here] {
    const Activations& logits = loss_->logits.here();
    loss_->queue.ops().SoftmaxCrossEntropy(logits.value, static_cast<const int64_t*>(labels),
                                           static_cast<const uint8_t*>(counted), scale,
                                           training ? logits.gradient.As<float>() : nullptr, here);
  });
  placement_->Join();
  if (here == sums) return;
  const LossSums all = loss_->sums.Read();
  placement_->first().DoAndJoin([&] { context_.ops->Upload(sums, &all, sizeof all); });
}

void PictureNetwork::Backward(const BatchArrays&, const GradientReady& ready) {
  loss_->logits.Backward();
  const void* more = nullptr;
  for (size_t i = stages_.size(); i-- > 0;) {
    PlacedStage& at = stages_[i];
    at.queue->Do([this, &at, more, &ready] {
      const Activations* const x = at.input ? &at.input->here() : nullptr;
      at.stage->Backward(at.context, more, x ? x->value.data : pictures_,
                         x ? x->gradient.data : nullptr, ready);
    });
    if (!at.input) break;
    at.input->Backward();
    more = at.input->more();
  }
  placement_->Join();
}

std::vector<LayerOutput> PictureNetwork::Activity() {
  std::vector<LayerOutput> all;
  for (PlacedStage& at : stages_) {
    const size_t before = all.size();
    at.stage->AddOutputs(all);
    for (size_t i = before; i < all.size(); ++i) all[i].queue = at.queue;
  }
  return all;
}

void AddAverageAndDense(PictureNetwork& network, const Shape& in, int64_t classes) {
  const ModelContext& context = network.context();
  PoolingSpec average = SquarePooling(context, in, PoolingKind::kAverage, 1, 1);
  average.window_height = static_cast<int>(in[2]);
  average.window_width = static_cast<int>(in[3]);
  network.Add(MakePoolingStage("avgpool", average));
  network.Add(MakeDenseStage(context, "fc", MakeLogitsSpec(context, in[1], classes)));
}

DenseSpec MakeLogitsSpec(const ModelContext& context, int64_t in, int64_t classes) {
  return {.batch = context.batch, .in = in, .out = classes, .type = context.type};
}

DenseSpec MakeHiddenSpec(const ModelContext& context, int64_t in, int64_t out) {
  DenseSpec spec = MakeLogitsSpec(context, in, out);
  spec.out_type = context.type;
  return spec;
}

}  // namespace recpack::train
