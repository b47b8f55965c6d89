// rectrain train: trains a network.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "recpack/base/error.h"
#include "recpack/train/trainer.h"
#include "src/base/format.h"
#include "tools/rectrain/command.h"

namespace recpack::tool {
namespace {

constexpr char kExamples[] =
    "Examples:\n"
    "  rectrain train shards/cifar10 --epochs 3\n"
    "  rectrain train shards/cifar10 --width 64 --type bf16 --rate 0.2\n"
    "  rectrain train shards/cifar10 --checkpoints run1        # killed: the same again with\n"
    "  rectrain train shards/cifar10 --checkpoints run1 --resume run1\n"
    "  rectrain train shards/reviews --model deepconn --rate 0.01 --decay 0\n"
    "  rectrain train shards/cifar10 --devices cpu:0,cpu:1 --strategy parameter_server\n";

struct TrainFlags {
  TrainerOptions options;
  std::string devices = "cpu:0";
  std::string type = "f32";
  std::string layout = "nhwc";
  std::string norm = "fused";
  std::string strategy = "replicated";
  std::string variables = "cpu";
  std::string norm_statistics = "local";
  std::string input = "real";
  bool no_evaluation = false;
  bool json = false;
};

// Deepconn predicts a number, which is right or wrong only by how far it is off.
bool Classifies(const TrainerOptions& options) { return options.model != "deepconn"; }

nlohmann::json JsonOf(const Score& score, bool accuracy) {
  nlohmann::json json = {{"loss", score.loss}, {"samples", score.samples}};
  if (accuracy) json["accuracy"] = score.accuracy;
  return json;
}

nlohmann::json JsonOf(const EpochReport& report, bool accuracy) {
  return {{"epoch", report.epoch},
          {"steps", report.steps},
          {"train", JsonOf(report.train, accuracy)},
          {"evaluation", JsonOf(report.evaluation, accuracy)},
          {"train_seconds", report.train_seconds},
          {"evaluation_seconds", report.evaluation_seconds},
          {"input_wait_seconds", report.input_wait_seconds},
          {"exchange",
           {{"calls", report.exchange_calls},
            {"bytes", report.exchange_bytes},
            {"wait_seconds", report.exchange_wait_seconds}}}};
}

std::string TextOf(const Score& score, bool accuracy) {
  std::string text = format("loss {:.4f}", score.loss);
  if (accuracy) text += format(", accuracy {:.2f} %", 100 * score.accuracy);
  return text;
}

void Print(const EpochReport& report, bool trained, bool accuracy) {
  const double seconds = report.train_seconds;
  std::string line = format("epoch {}: ", report.epoch);
  if (trained) line += TextOf(report.train, accuracy);
  if (report.evaluation.samples > 0) {
    line += "; evaluation: " + TextOf(report.evaluation, accuracy);
  }
  line += format("{}{:.0f} samples/s, {:.1f} % of it waiting for input", trained ? "; " : "",
                 static_cast<double>(report.train.samples) / seconds,
                 100 * report.input_wait_seconds / seconds);
  if (report.exchange_calls > 0) {
    line += format(", {:.1f} % for the exchange of variables",
                   100 * report.exchange_wait_seconds / seconds);
  }
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

void RunTrain(TrainFlags& flags) {
  TrainerOptions& options = flags.options;
  options.alexnet.classes = options.resnet.classes;
  options.devices = ParseDevices(flags.devices);
  options.type = flags.type == "bf16" ? ValueType::kBf16 : ValueType::kF32;
  options.layout = flags.layout == "nchw" ? ImageLayout::kNchw : ImageLayout::kNhwc;
  options.fused_norm = flags.norm == "fused";
  if (flags.strategy == "parameter_server") options.strategy = StrategyKind::kParameterServer;
  if (flags.variables == "device") options.variables = VariablePlace::kFirstDevice;
  if (flags.variables == "spread") options.variables = VariablePlace::kSpread;
  if (flags.input == "cached") options.input = InputKind::kCached;
  if (flags.input == "synthetic") options.input = InputKind::kSynthetic;
  options.norm_sync = flags.norm_statistics == "sync";
  options.evaluate = !flags.no_evaluation;
  Trainer trainer(options,
                  [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); });
  if (!flags.json) std::fprintf(stderr, "%s\n", trainer.Describe().c_str());
  nlohmann::json epochs = nlohmann::json::array();
  trainer.Run([&](const EpochReport& report) {
    if (flags.json) {
      epochs.push_back(JsonOf(report, Classifies(options)));
    } else {
      Print(report, options.devices[0].kind != DeviceKind::kSimulated, Classifies(options));
    }
  });
  if (flags.json) std::printf("%s\n", nlohmann::json({{"epochs", epochs}}).dump().c_str());
}

void AddModelFlags(CLI::App& command, TrainerOptions& options) {
  command
      .add_option("--model", options.model, "What is trained: docs/training.md says what each is.")
      ->capture_default_str()
      ->check(CLI::IsMember({"resnet", "alexnet", "deepconn"}));
  command.add_option("--width", options.resnet.width, "Of resnet: channels of the first stage.")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command.add_option("--classes", options.resnet.classes, "Of resnet and alexnet: classes.")
      ->capture_default_str();
  command.add_option("--dense", options.alexnet.dense, "Of alexnet: values of a hidden layer.")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command
      .add_option("--max-tokens", options.deepconn.max_tokens,
                  "Of deepconn: tokens that are read of a user's and of an item's reviews.")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 24));
  const auto size = [&command](const char* name, auto& value, const char* text) {
    command.add_option(name, value, text)->capture_default_str()->check(CLI::PositiveNumber);
  };
  DeepconnOptions& deepconn = options.deepconn;
  size("--dims", deepconn.dims, "Of deepconn: values of a token's vector.");
  size("--filters", deepconn.filters, "Of deepconn: filters of a tower.");
  size("--kernel", deepconn.kernel, "Of deepconn: tokens that a filter sees.");
  size("--latent", deepconn.latent, "Of deepconn: values that a tower ends in.");
  size("--factors", deepconn.factors, "Of deepconn: factors of the factorisation machine.");
  command
      .add_option("--vocabulary", options.deepconn.vocabulary,
                  "Of deepconn: number of tokens; 0: as vocabulary.txt beside the shards says.")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
}

}  // namespace

void AddTrain(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<TrainFlags>();
  TrainerOptions& options = flags->options;
  CLI::App& command = *app.add_subcommand("train", "Train a network on shards.");
  command.footer(kExamples);
  command.add_option("DATA", options.data, "Shards, as recpack batches takes them.")->required();
  command
      .add_option(
          "--devices", flags->devices,
          "Devices, separated by commas: cpu:0, cuda:0 (alone), or sim:12ms, which takes that "
          "long a step.")
      ->capture_default_str();
  command.add_option("--batch-size", options.batch_size, "Samples a step, of each device.")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command.add_option("--epochs", options.epochs, "Passes over the data.")->capture_default_str();
  command.add_option("--max-steps", options.max_steps, "Stop after that many steps; 0: do not.")
      ->capture_default_str();
  command.add_option("--seed", options.seed, "Of initial values, order and augmentation.")
      ->capture_default_str();
  AddModelFlags(command, options);
  command.add_option("--type", flags->type, "Of activations; variables are f32.")
      ->capture_default_str()
      ->check(CLI::IsMember({"f32", "bf16"}));
  command.add_option("--layout", flags->layout, "Of activations in memory.")
      ->capture_default_str()
      ->check(CLI::IsMember({"nhwc", "nchw"}));
  command
      .add_option("--norm", flags->norm, "Batch normalisation with ReLU and addition, or apart.")
      ->capture_default_str()
      ->check(CLI::IsMember({"fused", "unfused"}));
  command
      .add_option("--rate", options.optimizer.rate,
                  "Learning rate at its peak; 0: the model's own.")
      ->capture_default_str();
  command.add_option("--momentum", options.optimizer.momentum, "Of gradient descent.")
      ->capture_default_str();
  command.add_option("--decay", options.optimizer.decay, "Of weights; below 0: the model's own.")
      ->capture_default_str();
  command.add_option("--warmup-epochs", options.warmup_epochs, "In which the rate rises.")
      ->capture_default_str();
  command
      .add_option("--strategy", flags->strategy,
                  "replicated: every device has all variables; parameter_server: they are in one "
                  "place.")
      ->capture_default_str()
      ->check(CLI::IsMember({"replicated", "parameter_server"}));
  command
      .add_option("--variables", flags->variables,
                  "Where a parameter server has them: cpu, device (the first one), spread.")
      ->capture_default_str()
      ->check(CLI::IsMember({"cpu", "device", "spread"}));
  command.add_flag("--async", options.async,
                   "Of a parameter server: no device waits for the others' gradients.");
  command
      .add_option("--bn", flags->norm_statistics,
                  "Batch statistics of each device's samples (local) or of all (sync).")
      ->capture_default_str()
      ->check(CLI::IsMember({"local", "sync"}));
  command.add_option("--threads", options.threads, "Of each CPU device; 0: its share of all.")
      ->capture_default_str();
  command.add_flag("--bind-threads", options.bind_threads, "To a processor each.");
  command
      .add_option("--input", flags->input,
                  "real: the loader's batches; cached: some of them over and over; synthetic: one.")
      ->capture_default_str()
      ->check(CLI::IsMember({"real", "cached", "synthetic"}));
  command.add_option("--loader-threads", options.loader_threads, "Threads of the loader.")
      ->capture_default_str();
  command.add_option("--checkpoints", options.checkpoints,
                     "Folder for checkpoints, written after each epoch.");
  command
      .add_option("--checkpoint-steps", options.checkpoint_steps,
                  "Write one every so many steps as well; 0: do not.")
      ->capture_default_str();
  command.add_option("--keep", options.keep_checkpoints, "Checkpoints to keep.")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command.add_option("--resume", options.resume,
                     "Checkpoint to go on from, or a folder of them: its latest.");
  command.add_flag("--no-evaluation", flags->no_evaluation, "Do not evaluate after each epoch.");
  command.add_flag("--json", flags->json, "Print one JSON object.");
  command.callback([flags, &exit_code] {
    RunTrain(*flags);
    exit_code = kDone;
  });
}

}  // namespace recpack::tool
