#include "src/train/evaluate/quantise_model.h"

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/evaluate/picture_arrays.h"
#include "src/train/run/training_feeders.h"
#include "src/train/setup/make_model.h"
#include "src/train/trace/trace.h"

namespace recpack::train {
namespace {

void CheckQuantisable(const TrainerOptions& options, const CalibrationOptions& calibration) {
  if (options.model == "deepconn" || options.type != ElementType::kF32) {
    throw Error(ErrorKind::kUnsupported,
                options.model == "deepconn" ? "int8 does not support deepconn"
                                            : "int8 needs a network in f32",
                {}, "evaluate it without int8, or an image model in f32");
  }
  if (options.devices[0].kind != DeviceKind::kCpu) {
    throw Error(ErrorKind::kUnsupported,
                format("int8 does not run on {}", DeviceName(options.devices[0])), {},
                "choose cpu:0 for int8");
  }
  if (calibration.batches == 0) {
    throw Error(ErrorKind::kInvalidArgument, "int8 needs at least one calibration batch", {},
                "give at least 1");
  }
  if (!(calibration.percentile > 0 && calibration.percentile <= 100)) {
    throw Error(ErrorKind::kInvalidArgument,
                format("invalid calibration percentile {}", calibration.percentile), {},
                "give more than 0 and at most 100");
  }
}

// In the order of a SavedRanges.
std::vector<const void*> ListActivations(const Trace& trace) {
  std::vector<const void*> all = {trace.input.data};
  for (const TracedStep& step : trace.steps) all.push_back(step.y.data);
  return all;
}

// Runs batches, the first of which is recorded in `trace`.
ActivationRanges Calibrate(EvaluatedModel& model, TrainerOptions options,
                           const CalibrationOptions& calibration, Trace& trace, uint64_t& samples) {
  options.train_split = calibration.split;
  options.pictures.recipe = options.pictures.eval_recipe;  // without augmentation
  const auto feeder = TrainingFeeder(options, ProcessWorld({}, 1));
  Calibration seen(trace);
  for (uint32_t i = 0; i < calibration.batches; ++i) {
    auto batch = feeder->Next();
    if (!batch) break;
    LossSums sums;
    const auto forward = [&] { sums = model.tower().Evaluate(*batch); };
    if (i == 0) {
      trace = model.ops().Record(forward);
    } else {
      forward();
    }
    CheckLabels(options, sums, format("of calibration's batch {}", i), batch->token());
    seen.Observe(batch->Raw("image"));
    samples += batch->size();
  }
  return seen.Ranges(calibration.percentile);
}

// Records a pass over an empty image.
Trace RecordPass(EvaluatedModel& model, const TrainerOptions& options) {
  TraceOps& ops = model.ops();
  const int64_t size = PictureSize(options);
  const Tensor batch{nullptr, options.type, {options.batch_size, 3, size, size}};
  const DeviceArray image = ops.Allocate(batch.bytes());
  const DeviceArray labels = ops.Allocate(options.batch_size * sizeof(int64_t));
  const DeviceArray sums = ops.Allocate(sizeof(LossSums));
  ops.Zero(image.data(), batch.bytes());
  ops.Zero(labels.data(), options.batch_size * sizeof(int64_t));
  return ops.Record([&] {
    model.tower().model().Forward(PictureArrays(image.data(), labels.data()), nullptr, false, 0,
                                  sums.As<LossSums>());
  });
}

ActivationRanges FittingRanges(const SavedRanges& saved, const EvaluatedModel& model,
                               const Trace& trace, const std::string& path) {
  const CheckpointInfo& info = model.checkpoint();
  const std::vector<const void*> activations = ListActivations(trace);
  if (saved.model != info.model || saved.model_options != info.model_options ||
      saved.step != info.step || saved.ranges.size() != activations.size()) {
    throw Error(
        ErrorKind::kInvalidArgument,
        format("has the ranges of {} at step {}, not of this checkpoint", saved.model, saved.step),
        {.path = path}, "calibrate again: rectrain eval --int8 --save-ranges FILE");
  }
  ActivationRanges ranges;
  for (size_t i = 0; i < activations.size(); ++i) ranges[activations[i]] = saved.ranges[i];
  return ranges;
}

}  // namespace

QuantisedModel QuantiseModel(EvaluatedModel& model, TrainerOptions options,
                             const CalibrationOptions& calibration) {
  CheckQuantisable(options, calibration);
  QuantisedModel result;
  Trace trace;
  ActivationRanges ranges;
  if (calibration.ranges_file.empty()) {
    const CheckpointInfo& info = model.checkpoint();
    result.saved = {.model = info.model,
                    .model_options = info.model_options,
                    .step = info.step,
                    .percentile = calibration.percentile};
    ranges = Calibrate(model, std::move(options), calibration, trace, result.saved.calibrated_on);
    for (const void* activation : ListActivations(trace)) {
      result.saved.ranges.push_back(ranges.at(activation));
    }
  } else {
    result.saved = ReadRanges(calibration.ranges_file);
    trace = RecordPass(model, options);
    ranges = FittingRanges(result.saved, model, trace, calibration.ranges_file);
  }
  result.network = std::make_unique<QuantisedNetwork>(trace, ranges);
  result.folded = std::make_unique<FoldedNetwork>(trace);
  result.logits = trace.logits;
  return result;
}

}  // namespace recpack::train
