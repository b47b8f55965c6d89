// rectrain sweep: times many trainings in turns and prints a table.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "recpack/base/cpu.h"
#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/folders.h"
#include "src/base/format.h"
#include "src/train/collectives/launch/launch.h"
#include "src/train/setup/complete_options.h"
#include "tools/rectrain/command.h"
#include "tools/rectrain/sweep_report.h"
#include "tools/rectrain/train_flags.h"

namespace recpack::tool {
namespace {

constexpr char kSweepExamples[] =
    "Examples:\n"
    "  rectrain sweep shards/cifar10 --data-formats nhwc,nchw --norms fused,unfused --out sweep\n"
    "  rectrain sweep shards/cifar10 --devices-list 'cpu:0;cpu:0,cpu:1' \\\n"
    "      --strategies replicated,parameter_server,parameter_server/spread,async\n"
    "  rectrain sweep shards/cifar10 --inputs real,cached,synthetic --dtypes f32,bf16\n"
    "  rectrain sweep shards/cifar10 --threads-list 1,2 --bindings free,bound\n"
    "  rectrain sweep shards/reviews --model deepconn --pooling 2/1 --devices-list cpu:0,cpu:1 \\\n"
    "      --placements 'one;towers;alternate'\n";

struct SweepFlags {
  train::TrainerOptions base;
  std::string devices = "cpu:0";
  std::string placements;
  std::vector<int> threads = {0};
  train::TrainerChoices bindings, strategies, layouts, norms, types, inputs;
  train::SweepOptions options;
  std::string out;
  bool resume = false;
  bool json = false;
};

train::TrainerChoices DeviceChoices(const std::string& lists) {
  train::TrainerChoices choices;
  for (const std::string& list : CLI::detail::split(lists, ';')) {
    choices.push_back({list, [devices = train::ParseDevices(list)](train::TrainerOptions& options) {
                         options.devices = devices;
                       }});
  }
  return choices;
}

train::TrainerChoices PlacementChoices(const std::string& names) {
  train::TrainerChoices choices;
  for (const std::string& name : CLI::detail::split(names, ';')) {
    const auto same = [&](const train::TrainerChoice& choice) { return choice.name == name; };
    if (std::any_of(choices.begin(), choices.end(), same)) {
      throw Error(ErrorKind::kInvalidArgument, format("--placements: '{}' is named twice", name));
    }
    choices.push_back(train::PlacementChoice(name));
  }
  return choices;
}

train::TrainerChoices ThreadChoices(const std::vector<int>& counts) {
  train::TrainerChoices choices;
  for (const int count : counts) {
    choices.push_back({count == 0 ? "a share" : std::to_string(count),
                       [count](train::TrainerOptions& options) { options.threads = count; }});
  }
  return choices;
}

std::string Processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "an unnamed processor";
}

Json Sizes(const train::TrainerOptions& options) {
  const train::DeepconnOptions& deepconn = options.deepconn;
  if (options.model == "alexnet") {
    return {{"dense", options.alexnet.dense}, {"classes", options.alexnet.classes}};
  }
  if (options.model.starts_with("vgg")) {
    return {{"width", options.vgg.width},
            {"dense", options.vgg.dense},
            {"classes", options.vgg.classes}};
  }
  if (options.model == "googlenet") {
    return {{"width", options.googlenet.width}, {"classes", options.googlenet.classes}};
  }
  if (options.model != "deepconn") {
    return {{"width", options.resnet.width}, {"classes", options.resnet.classes}};
  }
  return {{"tokens", deepconn.max_tokens},
          {"dims", deepconn.dims},
          {"filters", deepconn.filters},
          {"kernel", deepconn.kernel},
          {"latent", deepconn.latent},
          {"factors", deepconn.factors},
          {"pooling", train::PoolingText(deepconn)},
          {"tables", deepconn.tables == train::WordTables::kShared ? 1 : 2},
          {"vocabulary", deepconn.vocabulary}};
}

Json DescribeSetting(const SweepFlags& flags, const std::vector<train::SweepAxis>& axes) {
  const train::TrainerOptions complete = train::CompleteOptions(flags.base);
  Json setting = {{"machine", {{"cpu", Processor()}, {"threads", AvailableThreads()}}},
                  {"data", flags.base.data},
                  {"model", flags.base.model},
                  {"sizes", Sizes(complete)},
                  {"batch_size", complete.batch_size},
                  {"batch_statistics", flags.base.norm_sync ? "sync" : "local"},
                  {"loader_threads", flags.base.loader_threads},
                  {"seed", flags.base.seed},
                  {"steps", flags.options.steps},
                  {"rounds", flags.options.rounds},
                  {"axes", Json::object()}};
  for (const train::SweepAxis& axis : axes) {
    Json& names = setting["axes"][axis.name] = Json::array();
    for (const train::TrainerChoice& choice : axis.choices) names.push_back(choice.name);
  }
  return setting;
}

std::string Today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

void Write(const std::filesystem::path& path, const std::string& text) {
  WriteFileAtomically(PosixFiles(), path,
                      {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

void Tell(const SweepReport& report, const train::SweepRun& run) {
  std::string line = format("round {}:", run.round + 1);
  for (const std::string& name : report.plan.cases[run.of].names) line += " " + name;
  line += run.error.empty()
              ? format(": {} samples/s",
                       CountText(static_cast<uint64_t>(run.timing.samples_per_second + 0.5)))
              : ": failed: " + run.error;
  std::fprintf(stderr, "%s\n", line.c_str());
}

// Returns the runs of an earlier sweep in `file`; refuses to overwrite it without --resume.
std::vector<train::SweepRun> Begin(const SweepFlags& flags, const std::filesystem::path& file,
                                   const SweepReport& report) {
  if (flags.resume && flags.out.empty()) {
    throw Error(ErrorKind::kInvalidArgument, "there is nothing to resume", {},
                "name the folder with --out");
  }
  if (flags.out.empty()) return {};
  MakeFolder(flags.out);
  if (!std::filesystem::exists(FileStatus(file))) return {};
  if (!flags.resume) {
    throw Error(ErrorKind::kInvalidArgument, "the folder already contains a sweep", {.path = file},
                "continue it with --resume, or name another folder");
  }
  return ReadRuns(file, report);
}

int RunSweepCommand(SweepFlags& flags) {
  FinishTrainingFlags(flags.base);
  if (train::LaunchPlace::FromEnvironment().size > 1) {
    throw Error(ErrorKind::kUnsupported, "a sweep runs in one process", {},
                "start it without a launcher");
  }
  std::vector<train::SweepAxis> axes = {{"devices", DeviceChoices(flags.devices)},
                                        {"strategy", flags.strategies},
                                        {"layout", flags.layouts},
                                        {"norm", flags.norms},
                                        {"type", flags.types},
                                        {"input", flags.inputs},
                                        {"threads", ThreadChoices(flags.threads)},
                                        {"binding", flags.bindings}};
  if (!flags.placements.empty()) {
    axes.push_back({"placement", PlacementChoices(flags.placements)});
  }
  // Parsed again, so that it equals what is read from a file: file names may not be UTF-8.
  SweepReport report{.setting = Json::parse(JsonLine(DescribeSetting(flags, axes))),
                     .date = Today(),
                     .plan = train::PlanSweep(flags.base, axes),
                     .runs = {}};
  const std::filesystem::path folder(flags.out), file = folder / "sweep.json";
  report.runs = Begin(flags, file, report);
  train::RunSweep(
      report.plan, flags.options, std::vector(report.runs), [&](const train::SweepRun& run) {
        report.runs.push_back(run);
        Tell(report, run);
        if (!flags.out.empty()) {
          Write(file, ToJson(report).dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
        }
      });
  const std::string table = ToMarkdown(report);
  if (!flags.out.empty()) {
    Write(folder / "sweep.md", table);
    Write(folder / "sweep.svg", DrawPlot(report));
  }
  std::fputs(flags.json ? (JsonLine(ToJson(report)) + "\n").c_str() : table.c_str(), stdout);
  for (const SweepRow& row : ToRows(report)) {
    if (!row.error.empty()) return kFinding;
  }
  return kDone;
}

void AddAxes(CLI::App& command, SweepFlags& flags) {
  const auto axis = [&](const char* name, train::TrainerChoices& chosen,
                        const train::TrainerChoices& choices, const char* text) {
    chosen = {choices.front()};
    AddChoices(command, name, chosen, choices, text);
  };
  command
      .add_option("--devices-list", flags.devices,
                  "Device lists, as for rectrain train, separated by semicolons.")
      ->capture_default_str();
  command.add_option(
      "--placements", flags.placements,
      "Places of one model's operations, separated by semicolons: one (all on the first device), "
      "towers (of deepconn, one on each of two devices), or as for --place: alternate, "
      "user=cpu:0,item=cpu:1. The table has copies and seconds of an epoch.");
  axis("--strategies", flags.strategies, train::WholeStrategyChoices(),
       "Where the variables are: a replica per device, or a parameter server on the CPU, on the "
       "first device or spread over all; async: a server that waits for no device.");
  axis("--data-formats", flags.layouts, train::LayoutChoices(), "Memory layout of activations.");
  axis("--norms", flags.norms, train::NormChoices(),
       "Batch normalisation fused with ReLU and addition, or separate.");
  axis("--dtypes", flags.types, train::TypeChoices(), "Type of activations; variables are f32.");
  axis("--inputs", flags.inputs, train::InputChoices(), "Source of the batches.");
  command
      .add_option("--threads-list", flags.threads,
                  "Threads per CPU device; 0: an equal share of the processors.")
      ->delimiter(',')
      ->check(CLI::Range(0, 1024))
      ->default_str("0");
  axis("--bindings", flags.bindings, train::BindingChoices(),
       "Bind each thread to a processor, or not.");
}

}  // namespace

void AddSweep(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<SweepFlags>();
  CLI::App& command =
      *app.add_subcommand("sweep", "Time trainings with different options and print a table.");
  command.footer(kSweepExamples);
  AddTrainingFlags(command, flags->base);
  AddAxes(command, *flags);
  command.add_option("--steps", flags->options.steps, "Timed steps per combination and round.")
      ->capture_default_str()
      ->check(Positive());
  command
      .add_option("--rounds", flags->options.rounds,
                  "Rounds; each runs every combination once, and the result is the median.")
      ->capture_default_str()
      ->check(Positive());
  command.add_option("--out", flags->out,
                     "Folder for sweep.json, sweep.md and sweep.svg; default: print only.");
  command.add_flag("--resume", flags->resume,
                   "Continue the sweep in --out; failed runs are tried again.");
  command.add_flag("--json", flags->json, "Print one JSON object instead of the table.");
  command.callback([flags, &exit_code] { exit_code = RunSweepCommand(*flags); });
}

}  // namespace recpack::tool
