#include "src/probe/doctor/machine.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "src/base/format.h"
#include "src/probe/doctor/machine_parts.h"
#include "src/probe/procfs/cgroup_files.h"

namespace recpack::probe {

MachineGpus ReadMachineGpus(const MachineOptions& options) {
  MachineGpus gpus;
  std::error_code code;
  gpus.device_files = std::filesystem::exists(options.dev + "/nvidiactl", code);
  GpuSampler sampler(options.gpus);
  gpus.count = sampler.devices();
  gpus.driver = sampler.driver();
  gpus.cuda = sampler.cuda();
  gpus.gpus = sampler.Sample();
  gpus.links = sampler.Links(gpus.gpus);
  return gpus;
}

CgroupSample ReadCgroup(const MachineOptions& options, UnseenList& missing) {
  KeptFiles files{.max_open = 1};
  CgroupSample sample;
  CgroupFiles(&files, options.proc, options.sys).ReadLimits(::getpid(), sample, missing);
  return sample;
}

Unavailable CgroupReason(const UnseenList& missing) {
  if (missing.list().empty()) return {"the control group has no such file"};
  const Unseen& first = missing.list().front();
  return {format("{}; needed: {}", first.reason, first.right)};
}

Reading<uint64_t> ResourceLimit(int which, bool soft) {
  rlimit limit = {};
  if (::getrlimit(static_cast<decltype(RLIMIT_NOFILE)>(which), &limit) != 0) {
    return Unavailable{std::strerror(errno)};
  }
  const rlim_t value = soft ? limit.rlim_cur : limit.rlim_max;
  return value == RLIM_INFINITY ? kUnlimited : uint64_t{value};
}

Machine ReadMachine(const MachineOptions& options) {
  char host[256] = {};
  ::gethostname(host, sizeof(host) - 1);
  return {.host = host,
          .cores = ReadMachineCores(options),
          .memory = ReadMachineMemory(options),
          .kernel = ReadMachineKernel(options),
          .storage = ReadMachineStorage(options),
          .gpus = ReadMachineGpus(options)};
}

}  // namespace recpack::probe
