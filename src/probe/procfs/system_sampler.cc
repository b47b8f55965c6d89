#include "src/probe/procfs/system_sampler.h"

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <utility>

#include "recpack/base/event_log.h"
#include "src/probe/procfs/cgroup_files.h"
#include "src/probe/procfs/machine_files.h"
#include "src/probe/procfs/process_tree.h"

namespace recpack::probe {
namespace {

// Number of samples between readings of the limits, which rarely change.
constexpr uint64_t kLimitsEvery = 10;

int MaxOpenFiles(int wished) noexcept {
  constexpr rlim_t kMost = 1 << 16;
  if (wished > 0) return wished;
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return static_cast<int>(std::min(limit.rlim_cur, kMost) / 2);
}

uint64_t OwnCpuNs() noexcept {
  timespec time = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace

struct SystemSampler::State {
  State(const std::vector<int>& roots, const SystemSamplerOptions& options)
      : root(roots.empty() ? 0 : roots.front()),
        files{.max_open = MaxOpenFiles(options.max_open_files)},
        machine(&files, options.proc, options.sys),
        tree(&files, roots, options),
        cgroup_files(&files, options.proc, options.sys) {}

  const int root;
  KeptFiles files;
  UnseenList missing;
  MachineFiles machine;
  ProcessTree tree;
  CgroupFiles cgroup_files;
  CgroupSample cgroup;
  uint64_t samples = 0;
};

SystemSampler::SystemSampler(std::vector<int> roots, const SystemSamplerOptions& options)
    : state_(std::make_unique<State>(roots, options)) {}

SystemSampler::~SystemSampler() = default;

void SystemSampler::Sample(SystemSample& sample) {
  State& state = *state_;
  sample.time_ns = EventLog::Now();
  state.machine.Read(sample, state.missing);
  state.tree.Read(state.machine.forks(), sample, state.missing);
  if (state.root != 0) {
    if (state.samples % kLimitsEvery == 0) {
      state.cgroup_files.ReadLimits(state.root, state.cgroup, state.missing);
    }
    state.cgroup_files.ReadCounters(state.cgroup, state.missing);
  }
  sample.cgroup = state.cgroup;
  sample.own_cpu_ns = OwnCpuNs();
  ++state.samples;
}

SystemSample SystemSampler::Sample() {
  SystemSample sample;
  Sample(sample);
  return sample;
}

const std::vector<Unseen>& SystemSampler::unseen() const noexcept { return state_->missing.list(); }

}  // namespace recpack::probe
