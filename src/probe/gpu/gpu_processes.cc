#include "src/probe/gpu/gpu_processes.h"

#include <filesystem>
#include <system_error>

#include "src/base/format.h"

namespace recpack::probe {
namespace {

namespace fs = std::filesystem;

// The initial PID namespace (the kernel's PROC_PID_INIT_INO).
constexpr const char* kFirstPidNamespace = "pid:[4026531836]";

bool InNamespace(const std::string& proc) {
  std::error_code code;
  const fs::path name = fs::read_symlink(proc + "/self/ns/pid", code);
  return !code && name != kFirstPidNamespace;
}

}  // namespace

Reading<std::vector<GpuProcess>> ProcessesHere(const std::vector<nvml::ProcessInfo>& infos,
                                               const std::string& proc) {
  std::vector<GpuProcess> processes;
  bool known = true;
  for (const nvml::ProcessInfo& info : infos) {
    if (info.pid == 0) continue;
    GpuProcess process = {.pid = static_cast<int>(info.pid), .memory = uint64_t{info.memory}};
    if (info.memory == nvml::kValueNotAvailable) {
      process.memory = Unavailable{"the driver does not report memory by process"};
    }
    processes.push_back(process);
    std::error_code code;
    known = known && fs::exists(format("{}/{}", proc, info.pid), code);
  }
  if (InNamespace(proc) && (processes.empty() || !known)) {
    return Unavailable{
        "this container has its own process numbers, and NVML gives the host's or none; start it "
        "with the host's (docker: --pid=host)"};
  }
  return processes;
}

}  // namespace recpack::probe
