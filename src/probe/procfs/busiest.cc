#include "src/probe/procfs/busiest.h"

#include <algorithm>
#include <functional>

namespace recpack::probe {
namespace {

constexpr double kHardly = 0.001;  // share of the time

double Wanted(const ThreadRates& thread) {
  return thread.cpu_share + thread.run_queue_wait_share.value_or(0) +
         thread.block_io_wait_share.value_or(0);
}

double Moved(const ProcessRates& process) {
  return process.read_bytes_per_second.value_or(0) + process.read_chars_per_second.value_or(0) +
         process.written_bytes_per_second.value_or(0);
}

}  // namespace

std::vector<ThreadRates> BusiestThreads(const SystemRates& system, size_t most) {
  std::vector<ThreadRates> threads = system.threads;
  std::erase_if(threads, [](const ThreadRates& thread) { return Wanted(thread) < kHardly; });
  std::ranges::stable_sort(threads, std::greater(), Wanted);
  threads.resize(std::min(threads.size(), most));
  return threads;
}

std::vector<ProcessRates> BusiestProcesses(const SystemRates& system, size_t most) {
  std::vector<ProcessRates> processes = system.processes;
  std::erase_if(processes, [](const ProcessRates& process) {
    return process.cpu_cores < kHardly && Moved(process) <= 0;
  });
  std::ranges::stable_sort(processes, std::greater(), &ProcessRates::cpu_cores);
  processes.resize(std::min(processes.size(), most));
  return processes;
}

}  // namespace recpack::probe
