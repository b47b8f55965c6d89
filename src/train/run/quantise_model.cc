#include "src/train/run/quantise_model.h"

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/run/training_feeders.h"
#include "src/train/setup/make_model.h"
#include "src/train/trace/trace.h"

namespace recpack::train {

QuantisedModel QuantiseModel(EvaluatedModel& model, TrainerOptions options,
                             const CalibrationOptions& calibration) {
  if (options.model == "deepconn" || options.type != ElementType::kF32) {
    throw Error(ErrorKind::kUnsupported,
                options.model == "deepconn" ? "int8 does not support deepconn"
                                            : "int8 needs a network in f32",
                {}, "evaluate it without int8, or a resnet or alexnet in f32");
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
  options.train_split = calibration.split;
  options.recipe = options.eval_recipe;  // without augmentation
  const auto feeder = TrainingFeeder(options, ProcessWorld({}, 1));
  QuantisedModel result;
  Trace trace;
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
    result.calibrated_on += batch->size();
  }
  result.network = std::make_unique<QuantisedNetwork>(trace, seen.Ranges(calibration.percentile));
  result.folded = std::make_unique<FoldedNetwork>(trace);
  result.logits = trace.logits;
  return result;
}

}  // namespace recpack::train
