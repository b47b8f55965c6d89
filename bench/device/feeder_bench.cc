// The feeder on device 0, or on the host where there is none.
//
//   feeder_bench check DATA [FLAGS]     batches on the device against the loader's own, bit for bit
//   feeder_bench overlap DATA [FLAGS]   feeding alone, steps alone, and both at once
//   flags: --recipe cifar10-train  --type f32|f16|bf16|u8  --batch N  --threads N  --steps N
//
// Prints a JSON line. `overlap`: a step keeps the device busy for 1.3 times what a batch takes when
// nothing else is done, so that the feeder has 1.3 times the capacity that is asked for.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>

#include "bench/device/step.h"
#include "bench/record/timing.h"
#include "recpack/device/feeder.h"
#include "recpack/loader/recipe.h"

namespace recpack {
namespace {

using Clock = std::chrono::steady_clock;
double Since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Run {
  std::string data, recipe, type;
  LoaderOptions options;
  int steps;
};

DeviceBatch Take(DeviceFeeder& feeder) {
  for (;;) {
    if (auto batch = feeder.Next()) return std::move(*batch);
  }
}

int Check(const Run& run) {
  const Dataset dataset = Dataset::Open(run.data);
  Loader loader(dataset, run.options);
  DeviceFeeder feeder(dataset, run.options);
  const bool on_device = feeder.reason().empty();
  const DeviceStream stream = bench::NewStream(on_device);
  uint64_t bytes = 0, wrong = 0;
  for (int i = 0; i < run.steps; ++i) {
    std::optional<Batch> host;
    while (!(host = loader.Next())) continue;
    DeviceBatch batch = Take(feeder);
    batch.OnStream(stream);
    for (size_t a = 0; a < batch.arrays().size(); ++a) {
      const auto got = bench::Fetch(batch, a, stream);
      bytes += got.size();
      wrong += std::memcmp(got.data(), host->Raw(a), got.size()) != 0;
    }
  }
  std::printf(
      "{\"job\": \"feeder check\", \"recipe\": \"%s\", \"type\": \"%s\", \"where\": \"%s\", "
      "\"batches\": %d, \"bytes\": %llu, \"arrays_that_differ\": %llu}\n",
      run.recipe.c_str(), run.type.c_str(), on_device ? "device" : feeder.reason().c_str(),
      run.steps, static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(wrong));
  return wrong == 0 ? 0 : 1;
}

// Seconds a step, and what of it the host waited in Next().
struct Pace {
  double step, waited;
};

Pace Feed(DeviceFeeder& feeder, DeviceStream stream, bool on_device, int steps, double work) {
  for (int i = 0; i < 8; ++i) Take(feeder).OnStream(stream);  // what was made before
  bench::WaitFor(stream, on_device);
  const auto begin = Clock::now();
  double waited = 0;
  for (int i = 0; i < steps; ++i) {
    const auto asked = Clock::now();
    DeviceBatch batch = Take(feeder);
    waited += Since(asked);
    batch.OnStream(stream);
    if (work > 0) bench::Work(stream, on_device, work);
    bench::WaitFor(stream, on_device);  // as a trainer that reads its loss
  }
  return {Since(begin) / steps, waited / steps};
}

int Overlap(const Run& run) {
  const Dataset dataset = Dataset::Open(run.data);
  DeviceFeeder feeder(dataset, run.options);
  const bool on_device = feeder.reason().empty();
  const DeviceStream stream = bench::NewStream(on_device);
  size_t batch_bytes = 0;
  for (const ArraySpec& array : feeder.arrays()) {
    batch_bytes += array.sample_bytes * run.options.batch_size;
  }
  const Pace alone = Feed(feeder, stream, on_device, run.steps, 0);
  const double work = 1.3 * alone.step;
  const auto begin = Clock::now();
  for (int i = 0; i < run.steps; ++i) {
    bench::Work(stream, on_device, work);
    bench::WaitFor(stream, on_device);
  }
  const double steps_alone = Since(begin) / run.steps;
  const Pace both = Feed(feeder, stream, on_device, run.steps, work);
  std::printf(
      "{\"job\": \"feeder overlap\", \"recipe\": \"%s\", \"type\": \"%s\", \"where\": \"%s\", "
      "\"threads\": %d, \"batch\": %u, \"batches\": %d, \"result_bytes\": %zu, "
      "\"feed_alone_ms\": %.4f, \"images_per_s\": %.0f, \"step_alone_ms\": %.4f, "
      "\"both_ms\": %.4f, \"both_over_step\": %.4f, \"waited_share\": %.4f, "
      "\"pinned_copy_gb_per_s\": %.1f}\n",
      run.recipe.c_str(), run.type.c_str(), on_device ? "device" : feeder.reason().c_str(),
      feeder.loader_options().threads, run.options.batch_size, run.steps, batch_bytes,
      alone.step * 1e3, run.options.batch_size / alone.step, steps_alone * 1e3, both.step * 1e3,
      both.step / steps_alone, both.waited / both.step, bench::CopyRate(on_device, 64 << 20) / 1e9);
  return 0;
}

ElementType TypeOf(const std::string& name) {
  for (const auto type : {ElementType::kU8, ElementType::kF16, ElementType::kBf16}) {
    if (name == ElementName(type)) return type;
  }
  return ElementType::kF32;
}

Run Parse(int argc, char** argv) {
  const auto flag = [&](const char* name, const char* otherwise) {
    return bench::Flag(argc, argv, name, otherwise);
  };
  Run run{argv[2], flag("--recipe", "cifar10-train"), flag("--type", "f32"), {}, 0};
  run.steps = std::stoi(flag("--steps", "200"));
  run.options.fields = Recipe(run.recipe);
  std::get<ImageField>(run.options.fields[0]).type = TypeOf(run.type);
  run.options.batch_size = static_cast<uint32_t>(std::stoul(flag("--batch", "256")));
  run.options.threads = std::stoi(flag("--threads", "0"));
  return run;
}

}  // namespace
}  // namespace recpack

int main(int argc, char** argv) {
  const std::string job = argc > 2 ? argv[1] : "";
  try {
    if (job == "check") return recpack::Check(recpack::Parse(argc, argv));
    if (job == "overlap") return recpack::Overlap(recpack::Parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "feeder_bench: %s\n", error.what());
    return 2;
  }
  std::fprintf(stderr, "usage: feeder_bench check|overlap DATA [FLAGS]\n");
  return 2;
}
