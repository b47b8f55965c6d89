// rectrain eval: evaluates a trained network.
#include <algorithm>
#include <cstdio>
#include <numeric>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/loader/dataset.h"
#include "src/base/format.h"
#include "src/train/run/evaluator.h"
#include "tools/json_line.h"
#include "tools/rectrain/command.h"
#include "tools/rectrain/picture.h"

namespace recpack::tool {
namespace {

constexpr char kEvalExamples[] =
    "Examples:\n"
    "  rectrain eval shards/cifar10 --checkpoint run1\n"
    "  rectrain eval shards/cifar10 --checkpoint run1/step-00000782.safetensors --split train\n"
    "  rectrain eval shards/cifar10 --checkpoint run1 --int8\n"
    "  rectrain eval shards/cifar10 --checkpoint run1 --devices cuda:0 --dtype bf16\n"
    "  rectrain eval --checkpoint run1 --image cat.jpg dog.png --names labels.txt\n";

struct EvalFlags {
  train::EvaluatorOptions options;
  train::EvaluationSplit split;
  train::CalibrationOptions calibration;
  std::string calibration_by = "max";
  double percentile = 99.99;
  std::string devices = "cpu:0";
  std::string type = "f32";
  bool int8 = false;
  std::vector<std::string> images;
  std::string names;
  size_t top = 3;
  bool json = false;
};

Json ToJson(const train::Evaluation& evaluation, bool accuracy) {
  Json json = {{"loss", evaluation.score.loss},
               {"samples", evaluation.score.samples},
               {"samples_per_second", evaluation.samples_per_second},
               {"seconds", evaluation.seconds}};
  if (accuracy) json["accuracy"] = evaluation.score.accuracy;
  return json;
}

void Print(const char* name, const train::Evaluation& evaluation, bool accuracy) {
  std::string line = format("{}: loss {:.4f}", name, evaluation.score.loss);
  if (accuracy) line += format(", accuracy {:.2f} %", 100 * evaluation.score.accuracy);
  std::printf("%s; %llu samples, %.0f samples/s\n", line.c_str(),
              static_cast<unsigned long long>(evaluation.score.samples),
              evaluation.samples_per_second);
}

Json CheckpointJson(const train::Evaluator& evaluator) {
  const train::CheckpointInfo& info = evaluator.checkpoint();
  return {{"path", evaluator.path()}, {"model", info.model}, {"step", info.step}};
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
      "f32 give the same class for %.2f %%; %d layers of integers, %d of f32, calibrated on %llu "
      "samples\n",
      result.ratio, result.ratio_to_folded,
      100 * static_cast<double>(result.same_class) /
          static_cast<double>(std::max<uint64_t>(1, result.f32.score.samples)),
      result.int8_layers, result.f32_layers, static_cast<unsigned long long>(result.calibrated_on));
}

// Names from the user's file, one per line, or from the data set; empty if there are none.
std::vector<std::string> ClassNames(const EvalFlags& flags) {
  if (flags.names.empty()) {
    if (flags.split.data.empty()) return {};
    return Dataset::Open(flags.split.data, {.split = flags.split.split}).class_names();
  }
  const ByteBuffer text = ReadWholeFile(PosixFiles(), flags.names);
  std::vector<std::string> names = {""};
  for (const uint8_t byte : text) {
    if (byte == '\n') {
      names.emplace_back();
    } else if (byte != '\r') {
      names.back() += static_cast<char>(byte);
    }
  }
  if (names.back().empty()) names.pop_back();
  return names;
}

void ClassifyImages(const EvalFlags& flags, train::Evaluator& evaluator) {
  const std::vector<std::string> names = ClassNames(flags);
  Json all = Json::array();
  for (const std::string& path : flags.images) {
    const Image picture = ReadPicture(path, evaluator.image_size());
    const auto shares = evaluator.Classify(picture.pixels.data());
    if (!names.empty() && names.size() != shares.size()) {
      throw Error(
          ErrorKind::kInvalidArgument,
          format("there are {} names, but the network has {} classes", names.size(), shares.size()),
          {.path = flags.names.empty() ? flags.split.data : flags.names},
          "give one per line, or leave them out");
    }
    std::vector<size_t> order(shares.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return shares[a] > shares[b]; });
    order.resize(std::min(order.size(), flags.top));
    std::string line = path + ":";
    Json classes = Json::array();
    for (const size_t c : order) {
      const std::string name = names.empty() ? format("class {}", c) : names[c];
      line += format("{} {} {:.2f} %", c == order[0] ? "" : ",", name, 100 * shares[c]);
      classes.push_back({{"class", c}, {"probability", shares[c]}});
      if (!names.empty()) classes.back()["name"] = name;
    }
    if (!flags.json) std::printf("%s\n", line.c_str());
    all.push_back({{"image", path}, {"classes", classes}});
  }
  if (!flags.json) return;
  const Json json = {{"checkpoint", CheckpointJson(evaluator)}, {"images", all}};
  PrintJson(json);
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
  if (!flags.images.empty()) flags.options.batch_size = 1;
  train::Evaluator evaluator(
      flags.options, [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); });
  if (!flags.json) {
    std::fprintf(stderr, "%s: %s, step %llu; %s\n", evaluator.path().c_str(),
                 evaluator.checkpoint().model.c_str(),
                 static_cast<unsigned long long>(evaluator.checkpoint().step),
                 evaluator.Describe().c_str());
  }
  if (!flags.images.empty()) return ClassifyImages(flags, evaluator);
  if (flags.int8) return EvaluateQuantised(flags, evaluator);
  EvaluateSplit(flags, evaluator);
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
                  "Checkpoint of rectrain train, or a folder, whose latest one is used.")
      ->required();
  command.add_option(
      "--split", flags->split.split,
      "Split to evaluate on; default: the first of test, eval and validation that exists.");
  command.add_option("--batch-size", flags->options.batch_size, "Samples per batch.")
      ->capture_default_str()
      ->check(Positive());
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
  command.add_option("--recipe", flags->options.recipe, "Recipe to read images with.")
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
  CLI::Option* const image =
      command.add_option("--image", flags->images, "Image files to classify.")->excludes(int8);
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
