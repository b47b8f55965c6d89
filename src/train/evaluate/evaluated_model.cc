#include "src/train/evaluate/evaluated_model.h"

#include <optional>
#include <utility>

#include "src/train/checkpoint/checkpoint.h"
#include "src/train/checkpoint/training_state.h"
#include "src/train/onnx/onnx_file.h"
#include "src/train/setup/complete_options.h"
#include "src/train/setup/make_model.h"
#include "src/train/setup/make_ops.h"
#include "src/train/setup/saved_model.h"
#include "src/train/strategies/single_device.h"
#include "src/train/trace/trace.h"

namespace recpack::train {

EvaluatedModel::EvaluatedModel(const std::string& path, TrainerOptions& options) {
  std::optional<Checkpoint> checkpoint;
  if (IsOnnxPath(path)) {
    info_ = TakeOnnx(path, options);
  } else {
    checkpoint = ReadCheckpoint(PosixFiles(), path);
    info_ = checkpoint->info;
    TakeModel(info_, path, options);
  }
  if (options.batch_size == 0) options.batch_size = DefaultBatchSize(options);
  CheckDevice(options.devices[0]);
  std::vector<std::unique_ptr<Ops>> devices;
  devices.push_back(std::make_unique<TraceOps>(MakeOps(options, 0)));
  ops_ = static_cast<TraceOps*>(devices[0].get());
  tower_ = std::make_unique<Tower>(std::move(devices),
                                   std::make_unique<SingleDevice>(OptimizerOptions{}), 1.0F);
  tower_->Build(
      [&options](Ops& device, Placement*) {
        return MakeModel(options, {.ops = &device,
                                   .batch = options.batch_size,
                                   .type = options.type,
                                   .layout = options.layout});
      },
      0);
  if (!checkpoint) return;  // its network has its values
  Model& model = tower_->model();
  const TrainingState fitting(model.variables());
  const CheckpointTarget target{.model = model.name(),
                                .model_options = model.options(),
                                .arrays = fitting.arrays(),
                                .with_optimizer = false};
  CheckModel(info_, target, path);
  TrainingState::WriteVariables(FittingArrays(checkpoint->stored, target, path), model.variables());
}

}  // namespace recpack::train
