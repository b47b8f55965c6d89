// rectrain eval: evaluates a trained network.
#include <algorithm>
#include <cstdio>

#include "recpack/base/error.h"
#include "recpack/example/field_map.h"
#include "src/base/format.h"
#include "src/train/evaluate/evaluator.h"
#include "tools/json_line.h"
#include "tools/rectrain/classify_images.h"
#include "tools/rectrain/command.h"

namespace recpack::tool {
namespace {

constexpr char kEvalExamples[] =
    "Examples:\n"
    "  rectrain eval shards/cifar10 --checkpoint run1\n"
    "  rectrain eval shards/cifar10 --checkpoint run1/step-00000782.safetensors --split train\n"
    "  rectrain eval shards/cifar10 --checkpoint run1 --int8 --save-ranges ranges.json\n"
    "  rectrain eval --checkpoint run1 --int8 --ranges ranges.json --image cat.jpg\n"
    "  rectrain eval shards/cifar10 --checkpoint run1 --devices cuda:0 --dtype bf16\n"
    "  rectrain eval --checkpoint run1 --image cat.jpg dog.png --names labels.txt\n"
    "  rectrain eval shards/imagenet --checkpoint resnet50.onnx --int8\n";

struct EvalFlags {
  train::EvaluatorOptions options;
  train::EvaluationSplit split;
  train::CalibrationOptions calibration;
  std::string calibration_by = "max";
  double percentile = 99.99;
  std::string devices = "cpu:0";
  std::string type = "f32";
  bool int8 = false;
  std::string save_ranges;
  std::vector<std::string> images;
  std::string names;
  size_t top = 3;
  bool json = false;
};

Json ToJson(const train::Evaluation& evaluation, bool accuracy) {
  Json json = {{"loss", evaluation.score.loss},
               {"samples", evaluation.score.samples},
               {"samples_per_s", evaluation.samples_per_second},
               {"seconds", evaluation.seconds}};
  if (accuracy) json["accuracy"] = evaluation.score.accuracy;
  return json;
}

void Print(const char* name, const train::Evaluation& evaluation, bool accuracy) {
  std::string line = format("{}: loss {:.4f}", name, evaluation.score.loss);
  if (accuracy) line += ", accuracy " + Percent(evaluation.score.accuracy, 2);
  std::printf("%s; %llu samples, %.0f samples/s\n", line.c_str(),
              static_cast<unsigned long long>(evaluation.score.samples),
              evaluation.samples_per_second);
}

void EvaluateSplit(const EvalFlags& flags, train::Evaluator& evaluator) {
  const bool accuracy = evaluator.classifies();
  const train::Evaluation result = evaluator.Evaluate(flags.split);
  if (!flags.json) return Print(flags.type.c_str(), result, accuracy);
  Json json = ToJson(result, accuracy);
  json["checkpoint"] = CheckpointJson(evaluator);
  PrintJson(json);
}

void EvaluateQuantised(const EvalFlags& flags, train::Evaluator& evaluator) {
  const train::QuantisedEvaluation result =
      evaluator.EvaluateQuantised(flags.split, flags.calibration);
  if (flags.json) {
    const Json json = {{"checkpoint", CheckpointJson(evaluator)},
                       {"f32", ToJson(result.f32, true)},
                       {"f32_folded", ToJson(result.folded, true)},
                       {"int8", ToJson(result.int8, true)},
                       {"ratio", result.ratio},
                       {"ratio_to_folded", result.ratio_to_folded},
                       {"same_class", result.same_class},
                       {"logit_error", result.logit_error},
                       {"int8_layers", result.int8_layers},
                       {"f32_layers", result.f32_layers},
                       {"calibrated_on", result.calibrated_on},
                       {"calibration_percentile", flags.calibration.percentile}};
    PrintJson(json);
    return;
  }
  Print("f32", result.f32, true);
  Print("f32, batch norm folded", result.folded, true);
  Print("int8", result.int8, true);
  std::printf(
      "int8/f32: %.2f of the samples/s, int8/folded: %.2f (medians, batches in turns); int8 and "
      "f32 give the same class for %.2f %%, int8's logits differ by %.2f %% (root mean square); %d "
      "layers of integers, %d of f32, calibrated on %llu "
      "samples\n",
      result.ratio, result.ratio_to_folded,
      100 * static_cast<double>(result.same_class) /
          static_cast<double>(std::max<uint64_t>(1, result.f32.score.samples)),
      100 * result.logit_error, result.int8_layers, result.f32_layers,
      static_cast<unsigned long long>(result.calibrated_on));
}

train::DeviceSpec OneDevice(const std::string& text) {
  const std::vector<train::DeviceSpec> devices = train::ParseDevices(text);
  if (devices.size() == 1) return devices[0];
  throw Error(ErrorKind::kInvalidArgument,
              format("evaluation uses one device, but '{}' names {}", text, devices.size()), {},
              "name one of them");
}

void RunEval(EvalFlags& flags) {
  flags.options.device = OneDevice(flags.devices);
  if (flags.split.data.empty() && flags.images.empty()) {
    throw Error(ErrorKind::kInvalidArgument, "there is nothing to evaluate on", {},
                "name shards, or images with --image");
  }
  flags.options.type = flags.type == "bf16" ? ElementType::kBf16 : ElementType::kF32;
  if (flags.calibration_by == "percentile") flags.calibration.percentile = flags.percentile;
  if (flags.int8 && flags.split.data.empty() && flags.calibration.ranges_file.empty()) {
    throw Error(ErrorKind::kInvalidArgument, "there is nothing to calibrate the integers on", {},
                "name the data set, or ranges that were saved (--ranges)");
  }
  if (!flags.images.empty()) flags.options.batch_size = 1;
  train::Evaluator evaluator(
      flags.options, [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); });
  if (!flags.json) {
    std::fprintf(stderr, "%s: %s, step %llu; %s\n", evaluator.path().c_str(),
                 evaluator.checkpoint().model.c_str(),
                 static_cast<unsigned long long>(evaluator.checkpoint().step),
                 evaluator.Describe().c_str());
  }
  if (!flags.images.empty()) {
    if (flags.int8) evaluator.Quantise(flags.split, flags.calibration);
    ClassifyImages({.images = flags.images,
                    .names = flags.names,
                    .data = flags.split.data,
                    .split = flags.split.split,
                    .top = flags.top,
                    .json = flags.json},
                   evaluator);
  } else if (flags.int8) {
    EvaluateQuantised(flags, evaluator);
  } else {
    EvaluateSplit(flags, evaluator);
  }
  if (!flags.save_ranges.empty()) evaluator.SaveRanges(flags.save_ranges);
}

}  // namespace

void AddEval(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<EvalFlags>();
  CLI::App& command =
      *app.add_subcommand("eval", "Evaluate a trained network on a split, or classify images.");
  command.footer(kEvalExamples);
  command.add_option(
      "DATA", flags->split.data,
      "Shards, as for recpack batches; with --image, only their class names are used.");
  command
      .add_option("--checkpoint", flags->options.checkpoint,
                  "Checkpoint of rectrain train, a folder, whose latest one is used, or an ONNX "
                  "file (*.onnx).")
      ->required();
  command.add_option(
      "--split", flags->split.split,
      "Split to evaluate on; default: the first of test, eval and validation that exists.");
  command
      .add_option("--batch-size", flags->options.batch_size,
                  "Samples per batch; 0: 128, or 32 for images above 64 pixels and for deepconn.")
      ->capture_default_str()
      ->check(NotNegative());
  command.add_option("--devices", flags->devices, "Device to run on, such as cpu:0 or cuda:0.")
      ->capture_default_str();
  command.add_option("--threads", flags->options.threads, "CPU threads; 0: all available.")
      ->capture_default_str()
      ->check(NotNegative());
  command.add_option("--loader-threads", flags->options.loader_threads, "Threads of the loader.")
      ->capture_default_str();
  command.add_option("--dtype", flags->type, "Type of activations.")
      ->capture_default_str()
      ->check(CLI::IsMember({"f32", "bf16"}));
  command.add_option("--recipe", flags->options.recipe,
                     "Recipe to read images with; default: the checkpoint's; for ONNX "
                     "imagenet-eval, or cifar10-eval up to 64 pixels.");
  command.add_option_function<std::string>(
      "--field", [flags](const std::string& text) { flags->split.fields = ParseFieldMap(text); },
      "TARGET=NAME,...: read features of DATA under other names.");
  command
      .add_option("--label-offset", flags->split.label_offset,
                  "Number of the first class of DATA (1: labels are 1 to N).")
      ->capture_default_str();
  CLI::Option* const int8 = command.add_flag(
      "--int8", flags->int8, "Evaluate a quantised 8-bit network too, in turn with f32.");
  command
      .add_option("--calibration-split", flags->calibration.split,
                  "Split whose batches calibrate the 8-bit scales.")
      ->capture_default_str()
      ->needs(int8);
  command
      .add_option("--calibration-batches", flags->calibration.batches,
                  "Number of calibration batches.")
      ->capture_default_str()
      ->check(Positive())
      ->needs(int8);
  auto& calibration =
      *command
           .add_option("--calibration", flags->calibration_by,
                       "Range of an activation: up to its largest magnitude (max), or such that "
                       "--calibration-percentile of them are within (percentile).")
           ->capture_default_str()
           ->check(CLI::IsMember({"max", "percentile"}))
           ->needs(int8);
  command
      .add_option("--calibration-percentile", flags->percentile,
                  "Percent of the magnitudes, above 0.")
      ->capture_default_str()
      ->needs(&calibration);
  CLI::Option* const ranges = command.add_option(
      "--ranges", flags->calibration.ranges_file,
      "File of --save-ranges: use these ranges of activations, and do not calibrate.");
  ranges->needs(int8)->excludes(&calibration)->check(CLI::ExistingFile);
  command
      .add_option("--save-ranges", flags->save_ranges,
                  "Save the ranges of activations that the calibration found.")
      ->needs(int8)
      ->excludes(ranges);
  CLI::Option* const image =
      command.add_option("--image", flags->images, "Image files to classify; also by --int8.");
  command.add_option("--names", flags->names, "File with the class names, one per line.")
      ->needs(image);
  command
      .add_option("--top", flags->top, "Number of classes to show per image, most probable first.")
      ->capture_default_str()
      ->check(Positive())
      ->needs(image);
  command.add_flag("--json", flags->json, "Print one JSON object.");
  command.callback([flags, &exit_code] {
    RunEval(*flags);
    exit_code = kDone;
  });
}

}  // namespace recpack::tool
