#include "src/train/evaluate/evaluator.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/checkpoint/checkpoint_folder.h"
#include "src/train/evaluate/evaluated_model.h"
#include "src/train/evaluate/picture_arrays.h"
#include "src/train/evaluate/quantise_model.h"
#include "src/train/evaluate/scores.h"
#include "src/train/onnx/onnx_file.h"
#include "src/train/ops/seconds.h"
#include "src/train/run/training_feeders.h"
#include "src/train/setup/make_model.h"
#include "src/train/setup/memory_errors.h"

namespace recpack::train {
namespace {

using Clock = std::chrono::steady_clock;

TrainerOptions ToTrainerOptions(const EvaluatorOptions& options) {
  TrainerOptions training;
  training.pictures.eval_recipe = options.recipe;
  training.type = options.type;
  training.batch_size = options.batch_size;
  training.devices = {options.device};
  training.threads = options.threads;
  training.loader_threads = options.loader_threads;
  return training;
}

// For images of the network's size, with the recipe's mean and deviation.
FinishOptions PictureFinish(const TrainerOptions& options, int size) {
  for (const Field& field : ModelFields(options, false)) {
    if (!std::holds_alternative<ImageField>(field)) continue;
    ImageField image = std::get<ImageField>(field);
    image.raw_shape = {};
    image.crop = CropKind::kNone;
    image.height = image.width = size;
    return ToFinishOptions(image);
  }
  throw Error(ErrorKind::kInvalidArgument,
              format("the recipe '{}' reads no image", options.pictures.eval_recipe));
}

}  // namespace

struct Evaluator::State {
  State(const EvaluatorOptions& given, const TrainerNotice& notice)
      : options(ToTrainerOptions(given)),
        path(IsOnnxPath(given.checkpoint)
                 ? given.checkpoint
                 : ChooseCheckpoint(PosixFiles(), given.checkpoint, notice,
                                    "name one that rectrain train --checkpoints has written")),
        model(path, options) {}

  void SetData(const EvaluationSplit& split) {
    options.data = split.data;
    options.fields = split.fields;
    options.label_offset = split.label_offset;
  }

  // Calls `take` for each batch of the split.
  void ForEach(const EvaluationSplit& split, const std::function<LossSums(DeviceBatch&)>& take) {
    SetData(split);
    options.eval_split = split.split;
    const auto feeder = EvaluationFeeder(options, ProcessWorld({}, 1));
    while (auto batch = feeder->Next()) {
      CheckLabels(options, take(*batch), format("of batch {}", batch->step()), batch->token());
    }
  }

  TrainerOptions options;
  std::string path;
  EvaluatedModel model;
  std::optional<QuantisedModel> quantised;  // destroyed before the model
};

Evaluator::Evaluator(const EvaluatorOptions& options, const TrainerNotice& notice) {
  WithMemoryErrors([&] { return DeviceName(options.device); }, options.batch_size,
                   [&] { state_ = std::make_unique<State>(options, notice); });
}

Evaluator::~Evaluator() = default;

const CheckpointInfo& Evaluator::checkpoint() const noexcept { return state_->model.checkpoint(); }
const std::string& Evaluator::path() const noexcept { return state_->path; }
std::string Evaluator::Describe() const { return state_->model.ops().Describe(); }
bool Evaluator::classifies() const noexcept { return state_->options.model != "deepconn"; }

Evaluation Evaluator::Evaluate(const EvaluationSplit& split) {
  State& state = *state_;
  const auto begin = Clock::now();
  NetworkScore measured;
  state.ForEach(split, [&](DeviceBatch& batch) {
    return measured.Take(batch, [&](DeviceBatch& of) { return state.model.tower().Evaluate(of); });
  });
  Evaluation result = measured.Result(state.options.batch_size);
  result.seconds = SecondsSince(begin);
  return result;
}

void Evaluator::Quantise(const EvaluationSplit& split, const CalibrationOptions& calibration) {
  state_->SetData(split);
  state_->quantised.reset();
  state_->quantised = QuantiseModel(state_->model, state_->options, calibration);
}

void Evaluator::SaveRanges(const std::string& path) const {
  WriteRanges(path, state_->quantised.value().saved);
}

QuantisedEvaluation Evaluator::EvaluateQuantised(const EvaluationSplit& split,
                                                 const CalibrationOptions& calibration) {
  State& state = *state_;
  Tower& tower = state.model.tower();
  Ops& ops = state.model.ops();
  Quantise(split, calibration);
  const QuantisedModel& quantised = *state.quantised;
  const auto in_f32 = [&](DeviceBatch& batch) { return tower.Evaluate(batch); };
  const auto by = [&](const auto& network) {
    return [&](DeviceBatch& batch) {
      network.Run(batch.Raw("image"));
      LossSums sums;
      ops.SoftmaxCrossEntropy(quantised.logits, batch.Data<int64_t>("label"), batch.mask().data(),
                              0, nullptr, &sums);
      return sums;
    };
  };
  const std::function<LossSums(DeviceBatch&)> ways[] = {in_f32, by(*quantised.folded),
                                                        by(*quantised.network)};
  const auto begin = Clock::now();
  QuantisedEvaluation result;
  NetworkScore measured[std::size(ways)];
  LogitError error;
  state.ForEach(split, [&](DeviceBatch& batch) {
    LossSums sums;
    std::vector<int64_t> classes[std::size(ways)];
    std::vector<float> logits[std::size(ways)];
    for (size_t i = 0; i < std::size(ways); ++i) {
      const size_t way = (batch.step() + i) % std::size(ways);
      sums = measured[way].Take(batch, ways[way]);
      classes[way] = Classes(quantised.logits, batch.mask());
      const float* const values = quantised.logits.As<float>();
      logits[way].assign(values, values + quantised.logits.elements());
    }
    for (size_t i = 0; i < classes[0].size(); ++i) {
      result.same_class += classes[0][i] == classes[2][i];
    }
    error.Add(logits[0], logits[2], batch.mask());
    return sums;
  });
  result.logit_error = error.Relative();
  Evaluation* const results[] = {&result.f32, &result.folded, &result.int8};
  for (size_t way = 0; way < std::size(ways); ++way) {
    *results[way] = measured[way].Result(state.options.batch_size);
    results[way]->seconds = SecondsSince(begin);
  }
  result.ratio = result.int8.samples_per_second / result.f32.samples_per_second;
  result.ratio_to_folded = result.int8.samples_per_second / result.folded.samples_per_second;
  result.int8_layers = quantised.network->counts().int8;
  result.f32_layers = quantised.network->counts().f32;
  result.calibrated_on = quantised.saved.calibrated_on;
  return result;
}

int Evaluator::image_size() const {
  if (!classifies()) {
    throw Error(ErrorKind::kUnsupported, "deepconn does not read images", {.path = state_->path},
                "name a checkpoint of an image model");
  }
  return static_cast<int>(PictureSize(state_->options));
}

std::vector<double> Evaluator::Classify(const uint8_t* pixels) {
  const int size = image_size();
  Tower& tower = state_->model.tower();
  Ops& ops = state_->model.ops();
  // One image, and arbitrary ones to fill the batch.
  const uint32_t samples = state_->options.batch_size;
  const Tensor batch{nullptr, state_->options.type, {samples, 3, size, size}};
  const Finisher finish(PictureFinish(state_->options, size));
  std::vector<uint8_t> pictures(batch.bytes());
  finish(pixels, {}, pictures.data());
  const DeviceArray image = ops.Allocate(pictures.size());
  const DeviceArray labels = ops.Allocate(samples * sizeof(int64_t));
  const DeviceArray sums = ops.Allocate(sizeof(LossSums));
  ops.Upload(image.data(), pictures.data(), pictures.size());
  if (state_->quantised) {
    state_->quantised->network->Run(image.data());
  } else {
    tower.model().Forward(PictureArrays(image.data(), labels.data()), nullptr, false, 0,
                          sums.As<LossSums>());
  }
  const Tensor logits = tower.model().Activity().back().value;
  std::vector<float> first(static_cast<size_t>(logits.shape[1]));
  ops.Download(first.data(), logits.data, first.size() * sizeof(float));
  return Softmax(first);
}

}  // namespace recpack::train
