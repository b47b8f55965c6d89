#include "src/probe/procfs/system_sample.h"

#include <cstdint>
#include <set>
#include <utility>

namespace recpack::probe {

SystemSample WithEnded(const std::vector<SystemSample>& samples, size_t first, size_t last) {
  SystemSample end = samples[last];
  std::set<std::pair<int, uint64_t>> processes;
  std::set<std::pair<int, int>> threads;
  for (size_t i = last; i > first; --i) {
    for (const ProcessSample& process : samples[i].processes) {
      const bool is_new = processes.emplace(process.process, process.start_ticks).second;
      if (is_new && i != last) end.processes.push_back(process);
    }
    for (const ThreadSample& thread : samples[i].threads) {
      const bool is_new = threads.emplace(thread.process, thread.thread).second;
      if (is_new && i != last) end.threads.push_back(thread);
    }
  }
  return end;
}

}  // namespace recpack::probe
