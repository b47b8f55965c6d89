// Measures the CPU time per sample of a child with many threads: of the operating system's counters
// alone, and of everything that `recprobe run` samples.
//
//   sampler_bench [--threads 200] [--waking 20] [--hertz 10] [--seconds 20] [--max-open 0]
//
// --waking threads of the child wake up a thousand times a second, the others sleep.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "bench/record/timing.h"
#include "src/probe/live/watch.h"
#include "src/probe/procfs/system_rates.h"
#include "src/probe/procfs/system_sampler.h"

namespace {

[[noreturn]] void BeChild(int threads, int waking) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int i = 1; i < threads; ++i) {
    std::thread([wakes = i <= waking] {
      for (;;) {
        if (wakes) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        } else {
          ::pause();
        }
      }
    }).detach();
  }
  for (;;) ::pause();
}

int Processes() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const char first = entry.path().filename().string()[0];
    count += first >= '0' && first <= '9' ? 1 : 0;
  }
  return count;
}

double CpuSeconds() {
  timespec time = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Returns the CPU time of this process while it calls `sample` at the given rate.
template <typename Sample>
double MeasureCpuSeconds(int hertz, int seconds, const Sample& sample) {
  const double first = CpuSeconds();
  auto next = std::chrono::steady_clock::now();
  for (int i = 0; i < hertz * seconds; ++i) {
    next += std::chrono::nanoseconds(1'000'000'000 / hertz);
    std::this_thread::sleep_until(next);
    sample(i);
  }
  return CpuSeconds() - first;
}

void Print(const char* job, size_t threads, int hertz, int seconds, double cpu) {
  std::printf(
      "{\"job\": \"%s\", \"threads\": %zu, \"processes_of_machine\": %d, \"hertz\": %d, "
      "\"samples\": %d, \"cpu_microseconds_per_sample\": %.1f, \"share_of_one_core\": %.5f}\n",
      job, threads, Processes(), hertz, hertz * seconds, cpu / (hertz * seconds) * 1e6,
      cpu / seconds);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace recpack;
  using namespace recpack::probe;
  const bench::Flags flags(argc, argv);
  const int threads = flags.Number("--threads", "200");
  const int hertz = flags.Number("--hertz", "10");
  const int seconds = flags.Number("--seconds", "20");
  const int child = ::fork();
  if (child == 0) BeChild(threads, flags.Number("--waking", "20"));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // until its threads have started

  {
    SystemSampler sampler({child}, {.max_open_files = flags.Number("--max-open", "0")});
    SystemSample samples[2];
    size_t threads_seen = 0;
    sampler.Sample(samples[1]);  // opens the files
    const double cpu = MeasureCpuSeconds(hertz, seconds, [&](int i) {
      sampler.Sample(samples[i % 2]);
      threads_seen = RatesBetween(samples[(i + 1) % 2], samples[i % 2]).threads.size();
    });
    Print("sample", threads_seen, hertz, seconds, cpu);
  }
  Watch watch({.roots = {child}});
  watch.Sample();
  Print("watch", static_cast<size_t>(threads), hertz, seconds,
        MeasureCpuSeconds(hertz, seconds, [&](int) { watch.Sample(); }));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return 0;
}
