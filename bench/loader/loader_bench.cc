// The loader: batches that a consumer takes and does not touch.
//
//   loader_bench rate DATA [--samples N] [--serve 1] ...  samples a second, over all epochs
//   loader_bench epoch DATA ...     one epoch, without warming up
//   loader_bench epochs DATA ...    --rounds epochs: a line for each, with waits, CPU time and
//   memory loader_bench first DATA ...     one batch, for timing the whole process loader_bench
//   steady DATA --step-ms X ...  a consumer that sleeps a step: how long it waits loader_bench
//   memory DATA ...  the most memory of its own, less that of the slabs loader_bench ends DATA ...
//   waits for the batches around an epoch's end
//
// Flags of all: --recipe cifar10-train|parse-cifar|labels|... --type f32|u8 --layout
// nchw|nhwc --filter
// antialias|two-taps
// --threads N --batch N --order K --verify 0|1 --backend automatic|pread|mapped --rounds N
// --live N (batches that may be held; 0: slabs go round)
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <thread>

#include "bench/record/timing.h"
#include "recpack/loader/loader.h"
#include "recpack/loader/recipe.h"

namespace recpack {
namespace {

using bench::Flags;
using Clock = std::chrono::steady_clock;

double Since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::vector<Field> FieldsOf(const Flags& flags) {
  const std::string recipe = flags.Text("--recipe", "cifar10-train");
  if (recipe == "parse-cifar") {
    return {BytesField{.name = "image", .shape = {3072}}, NumbersField{.name = "label"}};
  }
  if (recipe == "labels") return {NumbersField{.name = "image/class/label"}};
  std::vector<Field> fields = Recipe(recipe);
  auto& image = std::get<ImageField>(fields[0]);
  if (flags.Text("--type", "f32") == "u8") image.type = ElementType::kU8;
  if (flags.Text("--layout", "nchw") == "nhwc") image.layout = ImageLayout::kNhwc;
  if (flags.Text("--filter", "antialias") == "two-taps") {
    image.filter = ResizeFilter::kBilinearTwoTaps;
  }
  return fields;
}

LoaderOptions OptionsOf(const Flags& flags) {
  LoaderOptions options;
  options.fields = FieldsOf(flags);
  options.batch_size = static_cast<uint32_t>(flags.Number("--batch", "512"));
  options.threads = flags.Number("--threads", "2");
  options.max_live_batches = static_cast<uint32_t>(flags.Number("--live", "16"));
  options.order = ParseOrder(flags.Text("--order", "auto"));
  options.source.verify = flags.Number("--verify", "1") != 0;
  const std::string backend = flags.Text("--backend", "automatic");
  if (backend == "mapped") options.source.backend = RandomAccessOptions::Backend::kMapped;
  if (backend == "pread") options.source.backend = RandomAccessOptions::Backend::kPread;
  return options;
}

// The next batch, past the ends of epochs.
Batch Take(Loader& loader) {
  for (;;) {
    if (auto batch = loader.Next()) return std::move(*batch);
  }
}

int Rate(const std::string& data, const Flags& flags) {
  const Dataset dataset = Dataset::Open(data);
  Loader loader(dataset, OptionsOf(flags));
  const uint64_t samples = std::stoull(flags.Text("--samples", "0"));
  const uint64_t wanted = samples > 0 ? samples : dataset.records();
  // What was made while nobody asked is used up outside the time.
  const auto settle = [&] {
    for (uint32_t i = 0; i < loader.options().prefetch + 1; ++i) Take(loader);
  };
  const auto pass = [&] {
    bench::Pass done;
    while (done.records < wanted) {
      const Batch batch = Take(loader);
      done.records += batch.size();
      for (const ArraySpec& array : batch.arrays()) done.bytes += array.sample_bytes * batch.size();
    }
    return done;
  };
  const std::string order = OrderText(loader.options().order);
  if (flags.Number("--serve", "0") != 0) {
    bench::Serve(order + ", " + std::to_string(loader.options().threads) + " threads, batch " +
                     std::to_string(loader.options().batch_size),
                 settle, pass);
  } else {
    bench::Measure("rate", loader.options().threads, flags.Number("--rounds", "5"), pass);
  }
  return 0;
}

int Epoch(const std::string& data, const Flags& flags) {
  const Dataset dataset = Dataset::Open(data);
  LoaderOptions options = OptionsOf(flags);
  options.last_batch = LastBatch::kKeep;
  Loader loader(dataset, options);
  uint64_t records = 0;
  const auto begin = Clock::now();
  while (const auto batch = loader.Next()) records += batch->size();
  std::printf("{\"job\": \"epoch\", \"seconds\": %.6f, \"records\": %llu, \"bytes\": %llu}\n",
              Since(begin), static_cast<unsigned long long>(records),
              static_cast<unsigned long long>(dataset.bytes()));
  return 0;
}

double CpuSeconds() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int Epochs(const std::string& data, const Flags& flags) {
  const Dataset dataset = Dataset::Open(data);
  LoaderOptions options = OptionsOf(flags);
  options.last_batch = LastBatch::kKeep;
  options.epochs = static_cast<uint64_t>(flags.Number("--rounds", "1"));
  Loader loader(dataset, options);
  for (int epoch = 0; epoch < flags.Number("--rounds", "1"); ++epoch) {
    std::vector<double> waits;
    uint64_t records = 0;
    const double cpu = CpuSeconds();
    const auto begin = Clock::now();
    for (auto asked = begin; const auto batch = loader.Next(); asked = Clock::now()) {
      waits.push_back(Since(asked));
      records += batch->size();
    }
    const double seconds = Since(begin), used = CpuSeconds() - cpu;
    std::ranges::sort(waits);
    rusage usage = {};
    ::getrusage(RUSAGE_SELF, &usage);
    std::printf(
        "{\"job\": \"epochs\", \"epoch\": %d, \"seconds\": %.6f, \"cpu_seconds\": %.6f, "
        "\"records\": "
        "%llu, \"bytes\": %llu, \"batches\": %zu, \"wait_p50\": %.6f, \"wait_p99\": %.6f, "
        "\"wait_most\": %.6f, \"peak_mb\": %.1f}\n",
        epoch, seconds, used, static_cast<unsigned long long>(records),
        static_cast<unsigned long long>(dataset.bytes()), waits.size(), waits[waits.size() / 2],
        waits[waits.size() * 99 / 100], waits.back(), static_cast<double>(usage.ru_maxrss) / 1024);
    std::fflush(stdout);
  }
  return 0;
}

int First(const std::string& data, const Flags& flags) {
  const Dataset dataset = Dataset::Open(data);
  Loader loader(dataset, OptionsOf(flags));
  const Batch batch = Take(loader);
  std::printf("{\"job\": \"first\", \"records\": %u}\n", batch.size());
  std::fflush(stdout);
  std::quick_exit(0);  // the time to the batch is what counts
}

int Steady(const std::string& data, const Flags& flags) {
  const std::chrono::duration<double, std::milli> step(std::stod(flags.Text("--step-ms", "10")));
  const Dataset dataset = Dataset::Open(data);
  Loader loader(dataset, OptionsOf(flags));
  const int steps = flags.Number("--steps", "300");
  const int warm_up = steps / 10;
  double waited = 0;
  auto begin = Clock::now();
  for (int i = -warm_up; i < steps; ++i) {
    if (i == 0) {
      begin = Clock::now();
      waited = 0;
    }
    const auto asked = Clock::now();
    const Batch batch = Take(loader);
    waited += Since(asked);
    std::this_thread::sleep_for(step);
  }
  const double all = Since(begin);
  std::printf("{\"job\": \"steady\", \"seconds\": %.6f, \"samples_per_s\": %.1f}\n", all,
              steps * static_cast<double>(loader.options().batch_size) / all);
  std::printf("{\"job\": \"steps\", \"seconds\": %.6f}\n", all - waited);
  return 0;
}

int Ends(const std::string& data, const Flags& flags) {
  const Dataset dataset = Dataset::Open(data);
  Loader loader(dataset, OptionsOf(flags));
  std::vector<double> within;
  std::vector<double> behind;  // the first batch of an epoch, the end of the last one with it
  for (int epoch = 0; epoch < flags.Number("--rounds", "5"); ++epoch) {
    bool first = true;
    auto asked = Clock::now();
    while (const auto batch = loader.Next()) {
      if (epoch > 0) (first ? behind : within).push_back(Since(asked));
      first = false;
      asked = Clock::now();
    }
  }
  std::ranges::sort(within);
  std::ranges::sort(behind);
  for (const auto& [name, waits] : {std::pair("batch", &within), std::pair("end", &behind)}) {
    std::printf("{\"job\": \"%s\", \"seconds\": %.6f, \"most\": %.6f}\n", name,
                (*waits)[waits->size() / 2], waits->back());
  }
  return 0;
}

// Megabytes that are the process's own: what it maps of files is shared with all who map them.
double OwnMegabytes() {
  std::ifstream status("/proc/self/status");
  double kilobytes = 0;
  for (std::string word; status >> word;) {
    double value = 0;
    if ((word == "RssAnon:" || word == "RssShmem:") && status >> value) kilobytes += value;
  }
  return kilobytes / 1024;
}

int Memory(const std::string& data, const Flags& flags) {
  const Dataset dataset = Dataset::Open(data);
  Loader loader(dataset, OptionsOf(flags));
  double slabs = 0;
  for (const ArraySpec& array : loader.arrays()) {
    slabs += static_cast<double>(array.sample_bytes) * loader.options().batch_size *
             loader.options().prefetch / (1 << 20);
  }
  double most = 0;
  Take(loader);
  // Until all slabs are full, as those that nothing was written to take no memory.
  std::this_thread::sleep_for(std::chrono::seconds(2));
  for (int i = 0; i < flags.Number("--steps", "60"); ++i) {
    Take(loader);
    most = std::max(most, OwnMegabytes());
  }
  std::printf("{\"job\": \"memory\", \"seconds\": 1, \"peak_mb\": %.1f, \"slabs_mb\": %.1f}\n",
              most - slabs, slabs);
  return 0;
}

int Run(const std::string& job, const std::string& data, const Flags& flags) {
  if (job == "rate") return Rate(data, flags);
  if (job == "epoch") return Epoch(data, flags);
  if (job == "epochs") return Epochs(data, flags);
  if (job == "first") return First(data, flags);
  if (job == "steady") return Steady(data, flags);
  if (job == "memory") return Memory(data, flags);
  if (job == "ends") return Ends(data, flags);
  std::fprintf(stderr, "loader_bench: no job '%s'\n", job.c_str());
  return 2;
}

}  // namespace
}  // namespace recpack

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(
        stderr,
        "usage: loader_bench rate|epoch|epochs|first|steady|memory|ends DATA [--recipe R] ...\n");
    return 2;
  }
  try {
    return recpack::Run(argv[1], argv[2], recpack::Flags(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "loader_bench: %s\n", error.what());
    return 2;
  }
}
