// Trainer with a known cause of slowness, to judge verdicts.
//
//   planted_trainer DATA [--cause NAME --strength 0.3 --step-ms 12 --ranks 2 --steps 300 --seed N]
//                        [--device sim|cpu] [--perfect-input 1] [--out FILE]
//                        [--also function:8.5,host:3]   further causes, ms of each step
//   planted_trainer DATA --photos N [--height 400]   writes N JPEGs into DATA/photo, to be packed
//
// Ranks are threads, which synchronize after each step. Writes a line of JSON with the mean step
// time, without the first steps, to FILE. See planted_case.h for the causes.
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "bench/probe/busy.h"
#include "bench/probe/dropped_cache.h"
#include "bench/probe/launched_kernels.h"
#include "bench/probe/planted_input.h"
#include "bench/record/timing.h"
#include "recpack/base/error.h"
#include "recpack/base/random.h"
#include "recpack/image/encode.h"
#include "src/train/ops/step_events.h"

namespace recpack::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr Seconds kHang(6);

// Returns the number of steps at the beginning that verdicts leave out.
int64_t WarmUp(int64_t steps) { return std::clamp<int64_t>(steps / 20, 1, 10); }

class Training {
 public:
  Training(const Case& planted, PlantedInput& input)
      : planted_(planted), input_(input), all_(static_cast<std::ptrdiff_t>(planted.ranks)) {}

  // Returns the mean step time.
  Seconds Run() {
    std::vector<std::thread> threads;
    for (uint32_t rank = 0; rank < planted_.ranks; ++rank) {
      threads.emplace_back([this, rank] {
        try {
          RunRank(rank);
        } catch (const std::exception& error) {
          std::fprintf(stderr, "planted_trainer: %s\n", error.what());
          std::_Exit(2);  // the other ranks wait for this one
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    return Seconds(end_ - begin_) /
           static_cast<double>(planted_.taken() - WarmUp(planted_.taken()));
  }

 private:
  void RunRank(uint32_t rank) {
    const train::StepEvents events(rank);
    for (int64_t step = 0; step < planted_.taken(); ++step) {
      if (rank == 0 && step == WarmUp(planted_.taken())) begin_ = Clock::now();
      const int64_t begin = EventLog::Now();
      input_.Take(rank);
      if (planted_.cause == Cause::kCopies) Copy(rank, planted_.slowed() - planted_.step);
      if (planted_.Also(Cause::kCopies) > Seconds(0)) Copy(rank, planted_.Also(Cause::kCopies));
      if (planted_.cause == Cause::kLaunch) {
        LaunchKernels(static_cast<uint16_t>(rank), StepTime(rank, step), planted_.strength);
        Exchange();
      } else {
        const EventSpan computes = events.Computes();
        Compute(StepTime(rank, step));
        Exchange();
      }
      if (planted_.cause == Cause::kHost) Burn(planted_.slowed() - planted_.step);
      Burn(planted_.Also(Cause::kHost));
      events.Step(begin, static_cast<uint64_t>(step));
    }
    if (rank == 0) end_ = Clock::now();
    if (planted_.Hangs()) Hang(rank);
  }

  void Exchange() {
    if (planted_.ranks < 2) return;
    const train::ExchangeWaitSpan waits;
    all_.arrive_and_wait();
  }

  // Hangs for longer than recprobe watches.
  void Hang(uint32_t rank) {
    if (planted_.cause == Cause::kStuckInput) {
      new InputWaitSpan(static_cast<uint16_t>(rank));  // leaked, so that it never ends
      return Sleep(kHang);
    }
    input_.Take(rank);
    // Makes a fake NVML report that kernels run all the time, as those that wait for others do.
    const char* const driver = std::getenv("FAKE_NVML");
    if (driver != nullptr && rank == 0) {
      const std::string spins = std::string(driver) + ".spins";
      std::ofstream(spins) << "devices 1\n0.utilization 100 0\n0.processes " << ::getpid()
                           << ":1\n";
      fs::rename(spins, driver);  // atomic, as it is read concurrently
    }
    Sleep(kHang);
  }

  Seconds StepTime(uint32_t rank, int64_t step) const {
    KeyedRandom random(planted_.seed, rank, static_cast<uint64_t>(step));
    const double jitter = 0.95 + 0.1 * static_cast<double>(random.NextUnit());
    const bool odd = rank == planted_.odd_rank();
    if (planted_.cause == Cause::kSlowRankCompute && odd) return planted_.slowed() * jitter;
    // Longer than the wait that it hides.
    if (planted_.cause == Cause::kHiddenWait && !odd) return planted_.slowed() * 1.2 * jitter;
    return planted_.step * jitter;
  }

  void Compute(Seconds time) const { planted_.simulated ? Sleep(time) : Burn(time); }

  static void Copy(uint32_t rank, Seconds time) {
    const EventSpan copies(EventLog::OfProcess(), {.kind = EventKind::kCopy,
                                                   .copy = CopyKind::kHostToDevice,
                                                   .device = static_cast<uint16_t>(rank),
                                                   .lane = EventLog::ThreadLane()});
    Sleep(time);
  }

  const Case planted_;
  PlantedInput& input_;
  std::barrier<> all_;
  Clock::time_point begin_, end_;
};

void WritePhotos(const std::string& folder, int count, int height) {
  fs::create_directories(folder + "/photo");
  for (int i = 0; i < count; ++i) {
    Image image;
    image.Reshape(height, height * 3 / 4, 3);
    KeyedRandom random(0, 0, static_cast<uint64_t>(i));
    for (size_t at = 0; at < image.pixels.size(); ++at) {
      image.pixels[at] = static_cast<uint8_t>(at / 40 + random.NextBelow(40));
    }
    const auto path = folder + "/photo/" + std::to_string(i) + ".jpg";
    WriteFileAtomically(PosixFiles(), path, EncodeJpeg(image), false);
  }
}

Case ParseCase(const Flags& flags) {
  Case planted{.cause = ParseCause(flags.Text("--cause", "none")),
               .strength = std::stod(flags.Text("--strength", "0")),
               .step = Seconds(std::stod(flags.Text("--step-ms", "12")) * 1e-3),
               .simulated = flags.Text("--device", "sim") == "sim",
               .ranks = static_cast<uint32_t>(flags.Number("--ranks", "1")),
               .steps = flags.Number("--steps", "300"),
               .seed = std::stoull(flags.Text("--seed", "0")),
               .perfect_input = flags.Number("--perfect-input", "0") != 0,
               .also = ParseParts(flags.Text("--also", ""))};
  if (!(planted.strength >= 0 && planted.strength < 0.95) || planted.ranks == 0 ||
      planted.step <= Seconds(0) || planted.steps < 4) {
    throw Error(ErrorKind::kInvalidArgument, "invalid case", {},
                "--strength must be at least 0 and below 0.95, --step-ms above 0, --ranks at least "
                "1, --steps at least 4");
  }
  return planted;
}

int Main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: planted_trainer DATA [--cause NAME] ...\n");
    return 2;
  }
  const Flags flags(argc, argv);
  if (const int photos = flags.Number("--photos", "0")) {
    WritePhotos(argv[1], photos, flags.Number("--height", "400"));
    return 0;
  }
  const Case planted = ParseCase(flags);
  DroppedCache dropped;
  if (planted.HasInputCause(Cause::kColdCache)) dropped.Start(argv[1]);
  const auto input = MakeInput(argv[1], planted);
  const Seconds step = Training(planted, *input).Run();
  const std::string out = flags.Text("--out", "/dev/stderr");
  std::FILE* file = std::fopen(out.c_str(), "w");
  if (file == nullptr) throw Error(ErrorKind::kIo, "cannot write " + out);
  std::fprintf(file, "{\"step_seconds\": %.9f, \"odd_rank\": %u}\n", step.count(),
               planted.odd_rank());
  return std::fclose(file) == 0 ? 0 : 2;
}

}  // namespace
}  // namespace recpack::bench

int main(int argc, char** argv) {
  try {
    return recpack::bench::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "planted_trainer: %s\n", error.what());
    return 2;
  }
}
