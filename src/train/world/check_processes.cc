#include "src/train/world/check_processes.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/layers/optimizer.h"
#include "src/train/setup/make_ops.h"

namespace recpack::train {
namespace {

[[noreturn]] void RefuseProcesses(const std::string& what, const std::string& advice) {
  throw Error(ErrorKind::kUnsupported, what + " by several processes", {}, advice);
}

std::string TimedText(const StepTimingOptions& timing) {
  std::string text = format("{} {} {}", timing.rounds, timing.warmup, timing.steps);
  for (const InputKind input : timing.inputs) text += format(" {}", static_cast<int>(input));
  return text;
}

}  // namespace

void CheckProcesses(const TrainerOptions& options, const ProcessWorld& world) {
  if (world.processes() == 1) return;
  if (options.async) {
    RefuseProcesses("variables cannot be updated asynchronously",
                    "leave --async out, or start one process");
  }
  if (IsPlaced(options))
    RefuseProcesses("a model over several devices cannot be trained", "start one");
  for (const DeviceSpec& device : options.devices) {
    if (device.kind != DeviceKind::kSimulated) continue;
    RefuseProcesses(format("{} cannot be trained on", DeviceName(device)),
                    "choose other devices, or start one");
  }
  const auto& deepconn = options.deepconn;
  world.CheckSame({
      {"the model", options.model},
      {"recipes", options.pictures.recipe + ", " + options.pictures.eval_recipe},
      {"size of the images", std::to_string(options.pictures.size)},
      {"depth and stem", format("{} {}", options.resnet.depth, options.resnet.stem)},
      {"order", OrderText(options.order)},
      {"number of the first class", std::to_string(options.label_offset)},
      {"evaluated split", format("'{}'", options.eval_split)},
      {"type of activations", ElementName(options.type)},
      {"layout", std::to_string(static_cast<int>(options.layout))},
      {"fused normalisation", std::to_string(options.fused_norm)},
      {"width", std::to_string(options.resnet.width)},
      {"classes", std::to_string(options.resnet.classes)},
      {"dense layer", std::to_string(options.alexnet.dense)},
      {"width of googlenet", std::to_string(options.googlenet.width)},
      {"size of vgg", format("{} {} {}", options.vgg.depth, options.vgg.width, options.vgg.dense)},
      {"size of deepconn",
       format("{} {} {} {} {} {} {} {} {} {}", deepconn.vocabulary, deepconn.max_tokens,
              deepconn.dims, deepconn.filters, deepconn.kernel, deepconn.latent, deepconn.factors,
              static_cast<int>(deepconn.tables), deepconn.pool_window, deepconn.pool_stride)},
      {"strategy", std::to_string(static_cast<int>(options.strategy))},
      {"place of the variables", std::to_string(static_cast<int>(options.variables))},
      {"place of sums", std::to_string(static_cast<int>(options.sums))},
      {"statistics of all devices", std::to_string(options.norm_sync)},
      {"input", std::to_string(static_cast<int>(options.input))},
      {"steps a dispatch", std::to_string(options.steps_per_dispatch)},
      {"timed inputs", TimedText(options.timing)},
      {"bad records", format("{} {} {}", static_cast<int>(options.on_bad_record),
                             options.max_bad_share, !options.ledger.empty())},
      {"batch size", std::to_string(options.batch_size)},
      {"epochs", std::to_string(options.epochs)},
      {"epochs of the schedule", std::to_string(options.schedule_epochs)},
      {"most steps", std::to_string(options.max_steps)},
      {"epochs of warm-up", format("{}", options.warmup_epochs)},
      {"optimizer", OptimizerName(*options.optimizer.kind)},
      {"rate", format("{}", options.optimizer.rate)},
      {"momentum", format("{}", options.optimizer.momentum)},
      {"decay", format("{}", options.optimizer.decay)},
      {"seed", std::to_string(options.seed)},
      {"evaluation", std::to_string(options.evaluate)},
      {"checkpoints", std::to_string(!options.checkpoints.empty())},
      {"steps of a checkpoint", std::to_string(options.checkpoint_steps)},
      {"file of word vectors", std::to_string(!options.word_vectors.empty())},
      {"resuming from a checkpoint", std::to_string(!options.resume.empty())},
  });
}

}  // namespace recpack::train
