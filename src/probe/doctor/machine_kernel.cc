#include <linux/io_uring.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "recpack/base/descriptor.h"
#include "src/probe/doctor/machine_parts.h"

namespace recpack::probe {
namespace {

// Tries to set up a ring.
Reading<bool> IoUring(const MachineOptions& options) {
#if defined(__NR_io_uring_setup)
  io_uring_params parameters = {};
  const Descriptor ring(static_cast<int>(::syscall(__NR_io_uring_setup, 1, &parameters)));
  if (ring.get() >= 0) return true;
  const int error = errno;
  const Reading<int> disabled = ReadNumber(options.proc + "/sys/kernel/io_uring_disabled");
  if (disabled && *disabled > 0) {
    return Unavailable{format("kernel.io_uring_disabled is {}", *disabled)};
  }
  if (error == ENOSYS) {
    return Unavailable{"this kernel lacks it, or a seccomp filter hides it"};
  }
  return Unavailable{
      format("{}: probably a seccomp filter, for instance Docker's", std::strerror(error))};
#else
  return Unavailable{"this build does not support it"};
#endif
}

}  // namespace

MachineKernel ReadMachineKernel(const MachineOptions& options) {
  std::error_code code;
  const std::string settings = options.proc + "/sys/kernel";
  return {.release = ReadText(settings + "/osrelease"),
          .open_files = ResourceLimit(RLIMIT_NOFILE, true),
          .most_open_files = ResourceLimit(RLIMIT_NOFILE, false),
          .perf_event_paranoid = ReadNumber(settings + "/perf_event_paranoid"),
          .io_uring = IoUring(options),
          .rdma = std::filesystem::exists(options.dev + "/infiniband", code)};
}

}  // namespace recpack::probe
