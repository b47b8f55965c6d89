// rectrain train: trains a network.
#include <chrono>
#include <cstdio>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/base/parse_units.h"
#include "src/train/collectives/machine.h"
#include "src/train/run/trainer.h"
#include "tools/cache_flag.h"
#include "tools/json_line.h"
#include "tools/rectrain/command.h"
#include "tools/rectrain/epoch_report.h"
#include "tools/rectrain/input_report.h"
#include "tools/rectrain/ranks.h"
#include "tools/rectrain/train_flags.h"

namespace recpack::tool {
namespace {

constexpr char kTrainExamples[] =
    "Examples:\n"
    "  rectrain train shards/cifar10 --epochs 3\n"
    "  rectrain train shards/cifar10 --width 64 --dtype bf16 --lr 0.2\n"
    "  rectrain train shards/cifar10 --checkpoints run1        # killed: the same again with\n"
    "  rectrain train shards/cifar10 --checkpoints run1 --resume run1\n"
    "  rectrain train shards/photos --model resnet50 --batch-size 32   # any data set of images\n"
    "  rectrain train 'tars/x-{000..003}.tar' --field image=jpg,label=cls --classes 1000 \\\n"
    "      --image-size 160 --no-evaluation\n"
    "  rectrain train shards/reviews --model deepconn\n"
    "  rectrain train shards/cifar10 --devices cpu:0,cpu:1 --strategy parameter_server\n"
    "  rectrain train shards/cifar10 --devices cpu:0,cpu:1 --model alexnet --strategy auto\n"
    "  rectrain train shards/reviews --model deepconn --devices cpu:0,cpu:1 \\\n"
    "      --place user=cpu:0,item=cpu:1 --log-placement\n"
    "  rectrain train shards/cifar10 --model resnet50 --devices cpu:0,cpu:1 \\\n"
    "      --place layer3=cpu:1,layer4=cpu:1\n"
    "  rectrain train shards/cifar10 --max-steps 200 --input real,cached,synthetic\n"
    "  mpirun -n 2 rectrain train shards/cifar10 --strategy distributed_replicated\n";

struct TrainFlags {
  train::TrainerOptions options;
  std::string devices = "cpu:0";
  train::TrainerChoices inputs;
  std::string cache;
  std::string max_bad;
  int process_timeout = 300;  // seconds; 0: no timeout
  bool one_level = false;
  bool no_evaluation = false;
  bool json = false;
};

train::CollectiveOptions AmongProcesses(const TrainFlags& flags) {
  const auto timeout = flags.process_timeout == 0 ? train::CollectiveOptions::kNoLimit
                                                  : std::chrono::seconds(flags.process_timeout);
  return {.timeout = timeout,
          .connect_timeout = timeout,
          .machine = flags.one_level ? 0 : train::MachineId()};
}

// deepconn predicts a number, so it has no accuracy.
bool Classifies(const train::TrainerOptions& options) { return options.model != "deepconn"; }

void RunTrain(TrainFlags& flags, int& exit_code) {
  train::TrainerOptions& options = flags.options;
  FinishTrainingFlags(options, AmongProcesses(flags));
  FinishInputFlags(flags.inputs, options);
  if (options.variables != train::VariablePlace::kCpu &&
      options.strategy != train::StrategyKind::kParameterServer) {
    throw Error(ErrorKind::kInvalidArgument, "--variables needs a parameter server", {},
                "give --strategy parameter_server as well, or leave it out");
  }
  if (!flags.max_bad.empty()) options.max_bad_share = ParseShare(flags.max_bad);
  const train::LaunchPlace place = train::LaunchPlace::FromEnvironment();
  options.devices = train::ParseDevices(flags.devices, place.local_rank);
  options.join = JoinLaunched(place, AmongProcesses(flags));
  options.evaluate = !flags.no_evaluation;
  options.cache = ParseCache(flags.cache);
  train::Trainer trainer(
      options, [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); });
  const bool tells = place.rank == 0;
  if (!flags.json && tells) std::fprintf(stderr, "%s\n", trainer.Describe().c_str());
  nlohmann::json epochs = nlohmann::json::array();
  std::vector<train::EpochReport> reports;
  trainer.Run([&](const train::EpochReport& report) {
    reports.push_back(report);
    if (flags.json) {
      epochs.push_back(EpochJson(report, Classifies(options)));
    } else {
      const bool trained = options.devices[0].kind != train::DeviceKind::kSimulated;
      std::printf("%s\n", EpochText(report, trained, Classifies(options)).c_str());
      std::fflush(stdout);
    }
    if (report.audit && !report.audit->holds) exit_code = kFinding;
  });
  if (!tells) return;
  std::vector<train::StepTiming> timings = trainer.timings();
  if (timings.empty() && !reports.empty()) timings = {EpochTiming(reports, options.input)};
  if (flags.json) {
    nlohmann::json json = InputsJson(timings);
    json["epochs"] = epochs;
    PrintJson(json);
  } else if (!timings.empty()) {
    std::printf("inputs: %s\n", InputsText(timings).c_str());
  }
}

}  // namespace

void AddTrain(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<TrainFlags>();
  train::TrainerOptions& options = flags->options;
  CLI::App& command = *app.add_subcommand("train", "Train a network on a data set.");
  command.footer(kTrainExamples);
  AddTrainingFlags(command, options);
  AddCacheFlag(command, flags->cache);
  command.add_option("--word-vectors", options.word_vectors,
                     "deepconn: file of trained word vectors, in word2vec's text or binary form or "
                     "in GloVe's, that tokens begin with.");
  command
      .add_option(
          "--devices", flags->devices,
          "Devices, separated by commas: cpu:0, cuda:0, cuda:0/1 (one of several on a GPU), "
          "cuda:local (the GPU with the process's local rank), or sim:12ms (simulated, with steps "
          "of that length).")
      ->capture_default_str();
  command
      .add_option("--place", options.place,
                  "one: each device has the whole model. Otherwise the devices share one model: "
                  "alternate (operations in turn), or PART=DEVICE,... by name, as in "
                  "user=cpu:0,item=cpu:1,fm=cpu:0 or layer3=cpu:1,*.conv=cpu:1. "
                  "--log-placement prints the names.")
      ->capture_default_str();
  command.add_flag("--log-placement", options.log_placement,
                   "Print each operation's devices, and what it reads from where: of every model.");
  command.add_flag("--soft-placement", options.soft_placement,
                   "Replace a missing device by a CPU device.");
  command.add_option("--epochs", options.epochs, "Passes over the data.")->capture_default_str();
  command
      .add_option("--schedule-epochs", options.schedule_epochs,
                  "Epochs over which the learning rate goes down; 0: --epochs. Required to resume "
                  "from a checkpoint with another schedule.")
      ->capture_default_str();
  command
      .add_option("--max-steps", options.max_steps,
                  "Stop after that many steps, as if killed; 0: no limit.")
      ->capture_default_str();
  AddChoice(command, "--dtype", options, train::TypeChoices(),
            "Type of activations; variables are f32.");
  AddChoice(command, "--data-format", options, train::LayoutChoices(),
            "Memory layout of activations.");
  AddChoice(command, "--norm", options, train::NormChoices(),
            "Batch normalisation fused with ReLU and addition, or separate.");
  command.add_option("--lr", options.optimizer.rate, "Peak learning rate; 0: the model's default.")
      ->capture_default_str();
  AddChoice(command, "--optimizer", options, train::OptimizerChoices(),
            "sgd: gradient descent with momentum; adam; auto: the model's default.");
  command
      .add_option("--momentum", options.optimizer.momentum, "Momentum of sgd; first beta of adam.")
      ->capture_default_str();
  command
      .add_option("--weight-decay", options.optimizer.decay,
                  "Weight decay; below 0: the model's default.")
      ->capture_default_str();
  command
      .add_option("--warmup-epochs", options.warmup_epochs,
                  "Epochs over which the rate rises to its peak.")
      ->capture_default_str();
  AddChoice(
      command, "--strategy", options, train::StrategyChoices(),
      "replicated: each device has all variables; distributed_replicated: the same, with updates "
      "in a master copy split over the processes; parameter_server: variables are in one place; "
      "auto: chosen by the size of the model and how the devices are connected, and printed.");
  AddChoice(command, "--collective", options, train::SumChoices(),
            "How gradients of GPUs are summed: nccl, if each device has a GPU to itself; host: in "
            "host memory; auto: nccl if possible.");
  command
      .add_option("--process-timeout", flags->process_timeout,
                  "Timeout in seconds when processes wait for each other; it must cover slow "
                  "storage and large checkpoints; 0: none.")
      ->capture_default_str()
      ->check(CLI::Range(0, 1 << 30));
  command.add_flag("--one-level", flags->one_level,
                   "Sum over all processes in rank order. Default: in two levels, first over those "
                   "of each machine, if all of several machines have equally many.");
  AddChoice(
      command, "--variables", options, train::VariableChoices(),
      "Where a parameter server stores variables: cpu, device (the first one), spread (over the "
      "devices of all processes).");
  command.add_flag("--async", options.async,
                   "Parameter server of one process: no device waits for the others' gradients.");
  command
      .add_option("--threads", options.threads,
                  "Threads per CPU device; 0: an equal share of the processors.")
      ->capture_default_str();
  command.add_flag("--bind-threads", options.bind_threads, "Bind each thread to a processor.");
  AddChoice(command, "--cuda-graphs", options, train::GraphChoices(),
            "Capture a step on a GPU once and replay it, if possible.");
  AddChoice(command, "--weight-stream", options, train::WeightStreamChoices(),
            "Compute weight gradients on a second GPU stream, beside input gradients.");
  command
      .add_option("--steps-per-dispatch", options.steps_per_dispatch,
                  "Steps that a device runs before their losses are read.")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  AddChoice(command, "--on-bad-record", options, train::BadRecordChoices(),
            "In training: fail, or substitute another record.");
  command.add_option("--max-bad", flags->max_bad,
                     "Share of a process's records in an epoch that may be substituted (default "
                     "0.1%).");
  command.add_option("--ledger", options.ledger,
                     "Append a line of JSON to this file for each substituted record; with several "
                     "processes, rank R from 1 on appends to FILE.R.");
  AddInputFlags(command, flags->inputs, options);
  command.add_option("--checkpoints", options.checkpoints,
                     "Folder for checkpoints, written after each epoch.");
  command
      .add_option("--checkpoint-steps", options.checkpoint_steps,
                  "Write a checkpoint every so many steps too; 0: after epochs only.")
      ->capture_default_str();
  command.add_option("--keep", options.keep_checkpoints, "Checkpoints to keep.")
      ->capture_default_str()
      ->check(Positive());
  command.add_option("--resume", options.resume,
                     "Checkpoint to resume from, or a folder, whose latest one is used.");
  command.add_flag("--no-evaluation", flags->no_evaluation, "Do not evaluate after each epoch.");
  command.add_flag("--json", flags->json, "Print one JSON object.");
  command.callback([flags, &exit_code] {
    exit_code = kDone;
    RunTrain(*flags, exit_code);
  });
}

}  // namespace recpack::tool
