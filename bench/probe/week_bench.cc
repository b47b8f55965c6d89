// Measures the memory that watching a long training takes: writes the events of its steps as the
// hook in a Python program does, and reads them as `recprobe run` does, without the waits between
// them.
//
//   week_bench [--steps 60480000] [--at-once 500000]     100 steps a second for a week
//
// Prints a line of JSON for each tenth: steps so far, resident memory, disk space of the events.
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "bench/record/timing.h"
#include "recpack/base/event_record.h"
#include "src/probe/causes/decide.h"
#include "src/probe/live/watch.h"

namespace {

using namespace recpack;
namespace fs = std::filesystem;

constexpr int64_t kStep = 10'000'000;  // ns

void AddStep(int64_t began, int64_t number, std::vector<EventRecord>& records) {
  const int64_t begin = began + number * kStep;
  const int64_t wait = kStep / 10 + number % 7 * 100'000;
  const auto add = [&](const Event& event) { records.push_back(ToRecord(event)); };
  add({.kind = EventKind::kInputWait, .open = true, .lane = 1, .begin = begin});
  add({.kind = EventKind::kInputWait, .lane = 1, .begin = begin, .end = begin + wait});
  add({.kind = EventKind::kStep,
       .lane = 1,
       .begin = begin,
       .end = begin + kStep,
       .value = static_cast<uint64_t>(number)});
}

long ResidentKilobytes() {
  long pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * (::sysconf(_SC_PAGESIZE) / 1024);
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Flags flags(argc, argv);
  const int64_t steps = flags.Number("--steps", "60480000");
  const int64_t at_once = flags.Number("--at-once", "500000");
  const fs::path folder =
      fs::temp_directory_path() / ("recpack-week-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const std::string path = folder / (std::to_string(::getpid()) + "-python.events");
  probe::Watch watch(
      {.roots = {::getpid()}, .events = folder, .free_events_after = std::chrono::seconds(0)});
  const int64_t began = EventLog::Now() - steps * kStep;
  std::ofstream file(path, std::ios::binary);
  const auto write = [&](const std::vector<EventRecord>& records) {
    file.write(reinterpret_cast<const char*>(records.data()),
               static_cast<std::streamsize>(records.size() * sizeof(EventRecord)));
    file.flush();
  };
  write({ProcessRecord(::getpid())});
  const auto begin = std::chrono::steady_clock::now();
  std::vector<EventRecord> records;
  int64_t told = 0;
  for (int64_t number = 0; number < steps;) {
    records.clear();
    for (int64_t i = 0; i < at_once && number < steps; ++i) AddStep(began, number++, records);
    write(records);
    watch.Sample();
    if (number < steps && number - told < steps / 10) continue;
    told = number;
    struct stat state = {};
    ::stat(path.c_str(), &state);
    std::printf("{\"steps\": %lld, \"resident_mb\": %.1f, \"events_on_disk_mb\": %.1f}\n",
                static_cast<long long>(number), static_cast<double>(ResidentKilobytes()) / 1024,
                static_cast<double>(state.st_blocks) * 512e-6);
    std::fflush(stdout);
  }
  watch.LastSample();
  const probe::Verdict verdict = probe::Decide(watch.Collected());
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf(
      "{\"input_share\": %.4f, \"true_share\": 0.13, \"steps_counted\": %zu, "
      "\"microseconds_a_step\": %.2f}\n",
      verdict.input_share.value, verdict.steps, 1e6 * seconds / static_cast<double>(steps));
  fs::remove_all(folder);
}
