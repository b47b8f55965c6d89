#include <sys/resource.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <cstring>

#include "src/probe/doctor/machine_parts.h"
#include "src/probe/procfs/machine_files.h"

namespace recpack::probe {
namespace {

void ReadShared(const std::string& path, MachineMemory& memory) {
  struct statvfs status = {};
  if (::statvfs(path.c_str(), &status) != 0) {
    memory.shared = memory.shared_free = Unavailable{format("{}: {}", path, std::strerror(errno))};
    return;
  }
  if (status.f_blocks == 0) {  // a tmpfs with size=0
    memory.shared = memory.shared_free = Unavailable{path + " has no limit of its own"};
    return;
  }
  memory.shared = uint64_t{status.f_blocks} * status.f_frsize;
  memory.shared_free = uint64_t{status.f_bavail} * status.f_frsize;
}

// Returns the word in brackets of "always [madvise] never".
Reading<std::string> Chosen(const Reading<std::string>& text) {
  if (!text) return text;
  const size_t begin = text->find('['), end = text->find(']');
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    return Unavailable{"no value is selected"};
  }
  return text->substr(begin + 1, end - begin - 1);
}

}  // namespace

MachineMemory ReadMachineMemory(const MachineOptions& options) {
  MachineMemory memory;
  KeptFiles files{.max_open = 1};
  UnseenList missing;
  SystemSample sample;
  MachineFiles(&files, options.proc, options.sys).Read(sample, missing);
  const auto take = [](const Counter& counter, Reading<uint64_t>& reading) {
    reading = counter ? Reading<uint64_t>(*counter) : Unavailable{"/proc/meminfo does not list it"};
  };
  take(sample.memory.total_bytes, memory.total);
  take(sample.memory.available_bytes, memory.available);
  UnseenList of_group;
  const CgroupSample group = ReadCgroup(options, of_group);
  memory.limit =
      group.memory_limit ? Reading<uint64_t>(*group.memory_limit) : CgroupReason(of_group);
  memory.locked = ResourceLimit(RLIMIT_MEMLOCK, true);
  ReadShared(options.dev + "/shm", memory);
  memory.huge_pages = Chosen(ReadText(options.sys + "/kernel/mm/transparent_hugepage/enabled"));
  return memory;
}

}  // namespace recpack::probe
