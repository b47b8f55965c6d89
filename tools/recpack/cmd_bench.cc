// recpack bench: measures a loader, its bottleneck, and what more threads would give.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "recpack/base/cpu.h"
#include "recpack/base/median.h"
#include "recpack/loader/recipe.h"
#include "src/base/format.h"
#include "src/remote/url/url.h"
#include "tools/cache_flag.h"
#include "tools/recpack/bench_ceilings.h"
#include "tools/recpack/bench_run.h"
#include "tools/recpack/command.h"
#include "tools/recpack/numbers.h"
#include "tools/recpack/output.h"
#include "tools/recpack/samples_flags.h"
#include "tools/store_link.h"

namespace recpack::tool {
namespace {

constexpr double kGoal = 0.1;     // mean error of the predictions
constexpr double kLinkTimes = 8;  // of --seconds, for all measurements of a link
constexpr int kRounds = 3;        // of --check, so that disturbances affect all runs alike

struct BenchFlags {
  SamplesFlags samples;
  std::string recipe;
  std::string cache;
  LoaderOptions loader;
  double seconds = 2;
  bool check = false;
  bool json = false;
};

// One value per round.
struct Prediction {
  int threads = 0;
  std::vector<double> predictions, measurements;  // the latter with --check

  double predicted() const { return Median(predictions); }
  double measured() const { return Median(measurements); }
  double error() const { return std::abs(predicted() - measured()) / measured(); }
};

struct BenchResult {
  BenchRun run;
  ceiling::Scaling scaling;
  std::array<ceiling::Rate, kStages> ceilings;
  std::vector<Prediction> predictions;
  bool checked = false;

  double mean_error() const {
    double sum = 0;
    for (const Prediction& each : predictions) sum += each.error();
    return sum / static_cast<double>(predictions.size());
  }
};

// Without a recipe, the link to a store alone.
void BenchLink(const BenchFlags& flags) {
  const StoreLink link =
      MeasureLink(flags.samples.path, std::chrono::duration<double>(kLinkTimes * flags.seconds));
  if (flags.json) {
    PrintJson(Json{{"link", LinkJson(link)}});
  } else {
    std::printf("%s", LinkText(link).c_str());
  }
}

BenchResult RunBench(BenchFlags& flags) {
  const Mixture samples = OpenSamples(flags.samples);
  flags.loader.fields = Recipe(flags.recipe);
  flags.loader.cache = ParseCache(flags.cache);
  flags.loader.last_batch = LastBatch::kKeep;  // so that a small data set is enough
  const std::chrono::duration<double> time(flags.seconds);
  const int given = flags.loader.threads;
  std::vector<std::pair<BenchRun, ceiling::Scaling>> rounds;
  std::vector<Prediction> predictions;
  for (int threads = 1; threads <= AvailableThreads(); ++threads) {
    predictions.push_back({.threads = threads});
  }
  for (int round = 0; round < (flags.check ? kRounds : 1); ++round) {
    flags.loader.threads = given;
    rounds.emplace_back(RunLoader(samples, flags.loader, time),
                        ceiling::Scaling::Measure(AvailableThreads()));
    for (Prediction& each : predictions) {
      each.predictions.push_back(ceiling::Predict(ToLoaderCost(rounds.back().first),
                                                  {.threads = each.threads}, rounds.back().second));
      if (!flags.check) continue;
      flags.loader.threads = each.threads;
      each.measurements.push_back(RunLoader(samples, flags.loader, time).per_second());
    }
  }
  std::ranges::sort(rounds, {}, [](const auto& each) { return each.first.per_second(); });
  auto& [run, scaling] = rounds[rounds.size() / 2];
  const std::array<ceiling::Rate, kStages> ceilings =
      MeasureCeilings(samples.views().front().dataset(), run);
  return {run, std::move(scaling), ceilings, std::move(predictions), flags.check};
}

bool Happened(const BenchRun& run, Stage stage) { return run.stage(stage).time.count() > 0; }

// Throughput if the workers did nothing else [samples/s].
double Alone(const BenchRun& run, Stage stage) { return run.threads / run.Cost(stage); }

std::string Unavailable(const std::string& reason) { return "unavailable: " + reason; }

Json ToJson(const BenchResult& result) {
  const BenchRun& run = result.run;
  Json json = {{"samples_per_s", run.per_second()}, {"threads", run.threads},
               {"cores", result.scaling.cores()},   {"limited_by", LimitedBy(run)},
               {"stages", Json::array()},           {"wait_for_room", run.Busy(Stage::kRoom)},
               {"scaling", Json::array()},          {"predicted", Json::array()}};
  if (run.cache_budget > 0) {
    json["cache"] = {{"hits", run.cache.hits},
                     {"misses", run.cache.misses},
                     {"kept", run.cache.kept},
                     {"bytes", run.cache.bytes}};
  }
  for (size_t i = 0; i < kStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    if (stage == Stage::kRoom) continue;
    Json line = {{"name", StageName(stage)}};
    if (Happened(run, stage)) {
      line["per_s"] = Alone(run, stage);
    } else {
      line["per_s"] = Unavailable("no time was spent in it");
    }
    if (result.ceilings[i].measured()) {
      line["ceiling_per_s"] = result.ceilings[i].per_second;
    } else {
      line["ceiling_per_s"] = Unavailable(result.ceilings[i].unavailable);
    }
    line["busy"] = run.Busy(stage);
    json["stages"].push_back(line);
  }
  for (const ceiling::Slowdown& at : result.scaling.points()) {
    json["scaling"].push_back(
        {{"threads", at.threads}, {"compute", at.compute}, {"memory", at.memory}});
  }
  for (const Prediction& each : result.predictions) {
    Json line = {{"threads", each.threads}, {"samples_per_s", each.predicted()}};
    if (result.checked) {
      line["measured_per_s"] = each.measured();
      line["error"] = each.error();
    }
    json["predicted"].push_back(line);
  }
  if (result.checked) {
    json["check"] = {{"mean_error", result.mean_error()},
                     {"goal", kGoal},
                     {"holds", result.mean_error() <= kGoal}};
  }
  return json;
}

std::string Count(double number) { return CountText(static_cast<uint64_t>(std::llround(number))); }

void PrintStages(const BenchResult& result) {
  std::printf("%-8s %6s %16s %16s\n", "stage", "busy", "samples/s alone", "ceiling here");
  for (size_t i = 0; i < kStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    if (stage == Stage::kRoom || !Happened(result.run, stage)) continue;
    const ceiling::Rate& ceiling = result.ceilings[i];
    const std::string text =
        ceiling.measured() ? Count(ceiling.per_second) : Unavailable(ceiling.unavailable);
    std::printf("%-8s %5.1f%% %16s %16s\n", StageName(stage), 100 * result.run.Busy(stage),
                Count(Alone(result.run, stage)).c_str(), text.c_str());
  }
}

void Print(const BenchResult& result) {
  const BenchRun& run = result.run;
  std::printf("%s samples/s by %s on %s, limited by %s\n\n", Count(run.per_second()).c_str(),
              Counted(static_cast<uint64_t>(run.threads), "thread").c_str(),
              Counted(static_cast<uint64_t>(result.scaling.cores()), "core").c_str(),
              LimitedBy(run));
  PrintStages(result);
  if (run.cache_budget > 0) {
    std::printf("\ncache: %s of %s, %s hits, %s misses\n", BytesText(run.cache.bytes).c_str(),
                BytesText(run.cache_budget).c_str(), CountText(run.cache.hits).c_str(),
                CountText(run.cache.misses).c_str());
  }
  std::printf("\n%7s %20s%s\n", "threads", "predicted samples/s",
              result.checked ? "             measured   error" : "");
  for (const Prediction& each : result.predictions) {
    std::printf("%7d %20s", each.threads, Count(each.predicted()).c_str());
    if (result.checked) {
      std::printf(" %20s %6.1f%%", Count(each.measured()).c_str(), 100 * each.error());
    }
    std::printf("\n");
  }
  std::printf("More threads than cores do not help%s.\n",
              Happened(run, Stage::kInput) ? ", except where they wait for input" : "");
  if (result.checked) {
    std::printf("mean error of the predictions: %.1f%%, the goal is at most %.0f%%: %s\n",
                100 * result.mean_error(), 100 * kGoal,
                result.mean_error() <= kGoal ? "held" : "missed");
  }
}

}  // namespace

void AddBench(CLI::App& app, int& exit_code) {
  CLI::App* bench = app.add_subcommand("bench", "Measure a loader and this machine's ceilings");
  auto flags = std::make_shared<BenchFlags>();
  bench->footer(
      "Busy: share of the workers' time. Alone: if they did nothing else. Ceiling: plain calls on\n"
      "this data with as many threads: sequential reads and CRC, the disk without the page cache,\n"
      "whole JPEGs, memset. Limited by consumer: the workers mostly wait for the single thread "
      "that\n"
      "takes the batches. Predictions include how much threads slow each other down in computing\n"
      "and storing, which is also measured. Cold data becomes warm while it is measured: consider\n"
      "that with --check, which runs everything in turn, three times, and prints medians.\n"
      "Each run starts with an empty cache.\n\n"
      "Examples:\n"
      "  recpack bench shards --recipe cifar10-train --seconds 0.2\n"
      "  recpack bench shards --recipe cifar10-train --threads 1 --seconds 0.2 --check --json\n"
      "  recpack bench s3://bucket/data");
  bench->add_option("DATA", flags->samples.path, "A folder of shards, a shard, or a pattern")
      ->required();
  bench->add_option("--recipe", flags->recipe,
                    RecipeList() + "; without one, the link to the store of a URL is measured");
  bench->add_option("--split", flags->samples.split, "Split (default: train, or the only one)");
  bench->add_option("--threads", flags->loader.threads, "Worker threads (default: all)")
      ->check(ThreadCount());
  bench->add_option("--batch-size", flags->loader.batch_size, "Samples per batch (default 256)")
      ->check(WholeNumberIn(1, UINT32_MAX));
  AddCacheFlag(*bench, flags->cache);
  bench->add_option("--seconds", flags->seconds, "Time of each run after its warm-up (default 2)")
      ->check(CLI::Range(0.01, 3600.0));
  bench->add_flag("--check", flags->check, "Also run each predicted number of threads");
  bench->add_flag("--json", flags->json, "Print one JSON object");
  bench->callback([flags, &exit_code] {
    if (flags->recipe.empty()) {
      if (!remote::IsUrl(flags->samples.path)) throw CLI::RequiredError("--recipe");
      BenchLink(*flags);
      exit_code = kDone;
      return;
    }
    const BenchResult result = RunBench(*flags);
    if (flags->json) {
      PrintJson(ToJson(result));
    } else {
      Print(result);
    }
    exit_code = kDone;
  });
}

}  // namespace recpack::tool
