#include "src/probe/procfs/cgroup_files.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>

#include "src/base/format.h"
#include "src/probe/procfs/scanner.h"

namespace recpack::probe {
namespace {

constexpr const char* kNoMount = "a cgroup file system mounted in the container";

std::optional<std::string> ReadText(KeptFiles* files, const std::string& path) {
  const auto text = KeptFile(files, path).Read();
  if (!text) return std::nullopt;
  return std::string(*text);
}

// Version 2: "max 100000" or "150000 100000". Version 1: the quota, -1 for no limit.
std::optional<double> ReadCpuQuota(KeptFiles* files, const std::string& folder, bool version_2) {
  const auto quota_text = ReadText(files, folder + (version_2 ? "/cpu.max" : "/cpu.cfs_quota_us"));
  if (!quota_text) return std::nullopt;
  Scanner scanner(*quota_text);
  const auto quota = scanner.Number();
  if (!quota) return std::numeric_limits<double>::infinity();
  const auto period =
      version_2 ? scanner.Number()
                : Scanner(ReadText(files, folder + "/cpu.cfs_period_us").value_or("")).Number();
  if (!period || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<uint64_t> ReadMemoryMax(KeptFiles* files, const std::string& folder, bool version_2) {
  constexpr uint64_t kNoLimitOfVersion1 = uint64_t{1} << 62;  // or more
  const auto text =
      ReadText(files, folder + (version_2 ? "/memory.max" : "/memory.limit_in_bytes"));
  if (!text) return std::nullopt;
  const auto limit = Scanner(*text).Number();
  return limit && *limit < kNoLimitOfVersion1 ? *limit : kNoMemoryLimit;
}

bool CanList(const std::string& folder) {
  std::error_code error;
  const std::filesystem::directory_iterator entries(folder, error);
  return !error;
}

}  // namespace

CgroupFiles::CgroupFiles(KeptFiles* files, std::string proc, std::string sys)
    : files_(files), proc_(std::move(proc)), sys_(std::move(sys)) {}

void CgroupFiles::ReadLimits(int process, CgroupSample& sample, UnseenList& missing) {
  KeptFile membership(files_, format("{}/{}/cgroup", proc_, process));
  const auto text = membership.Read();
  if (text) {
    const std::string groups(*text);
    const auto mounts = ReadText(files_, proc_ + "/self/mountinfo");
    const CgroupFolders folders = FindCgroupFolders(groups, mounts.value_or(""), sys_);
    if (!(folders == folders_)) Open(folders);
  } else if (std::filesystem::exists(format("{}/{}/stat", proc_, process))) {
    missing.Add("control group", membership.path(), membership.error(),
                "a kernel with CONFIG_CGROUPS");
  }
  sample.path = folders_.cpu.path;
  ReadCpuLimit(sample);
  ReadCpus(sample);
  ReadMemoryLimit(sample, missing);
  if (!text && folders_.cpu.path.empty()) return;
  if (!sample.cpu_limit) {
    missing.Add("processor limit of the control group", format("no files of group {}", sample.path),
                kNoMount);
  }
  if (sample.cpus.empty()) {
    missing.Add("processors of the control group",
                format("no files of group {}", folders_.cpuset.path), kNoMount);
  }
}

void CgroupFiles::Open(const CgroupFolders& folders) {
  folders_ = folders;
  cpu_stats_.clear();
  for (const std::string& folder : folders.cpu.folders) {
    cpu_stats_.emplace_back(files_, folder + "/cpu.stat", KeptFile::Size::kOneRead);
  }
  pressure_.clear();
  if (!folders.unified.folders.empty()) {
    pressure_.emplace_back(files_, folders.unified.folders.front(), ".pressure");
  }
}

// In version 2 the root group and groups without the cpu controller have no cpu.max: no limit.
void CgroupFiles::ReadCpuLimit(CgroupSample& sample) const {
  sample.cpu_limit.reset();
  for (const std::string& folder : folders_.cpu.folders) {
    auto limit = ReadCpuQuota(files_, folder, folders_.cpu.version_2);
    if (!limit && folders_.cpu.version_2 && CanList(folder)) {
      limit = std::numeric_limits<double>::infinity();
    }
    if (limit) sample.cpu_limit = std::min(*limit, sample.cpu_limit.value_or(*limit));
  }
}

void CgroupFiles::ReadCpus(CgroupSample& sample) const {
  sample.cpus.clear();
  for (const std::string& folder : folders_.cpuset.folders) {
    for (const char* file : {"/cpuset.cpus.effective", "/cpuset.effective_cpus", "/cpuset.cpus"}) {
      const auto text = ReadText(files_, folder + file);
      if (text) sample.cpus = Scanner(*text).Word();
      if (!sample.cpus.empty()) return;
    }
  }
}

void CgroupFiles::ReadMemoryLimit(CgroupSample& sample, UnseenList& missing) {
  const ControllerFolders& memory = folders_.memory;
  const char* const used = memory.version_2 ? "/memory.current" : "/memory.usage_in_bytes";
  sample.memory_limit.reset();
  const std::string* tightest = nullptr;
  for (const std::string& folder : memory.folders) {
    const auto limit = ReadMemoryMax(files_, folder, memory.version_2);
    if (!limit || (sample.memory_limit && *limit >= *sample.memory_limit)) continue;
    sample.memory_limit = limit;
    tightest = &folder;
  }
  if (!tightest && memory.version_2 && !memory.folders.empty() && CanList(memory.folders.front())) {
    sample.memory_limit = kNoMemoryLimit;
  }
  if (!tightest) {
    memory_used_.clear();
    missing.Add("memory of the control group", format("no files of group {}", memory.path),
                memory.folders.empty() ? kNoMount : "the memory controller in the group");
  } else if (memory_used_.empty() || memory_used_.front().path() != *tightest + used) {
    memory_used_.clear();
    memory_used_.emplace_back(files_, *tightest + used, KeptFile::Size::kOneRead);
  }
}

void CgroupFiles::ReadCounters(CgroupSample& sample, UnseenList& missing) {
  sample.periods.reset();
  sample.throttled_periods.reset();
  sample.throttled_ns.reset();
  const auto add = [](Counter& sum, const Counter& value) {
    if (value) sum = sum.value_or(0) + *value;
  };
  for (KeptFile& file : cpu_stats_) {
    const auto text = file.Read();
    Counter periods, throttled, us, ns;
    constexpr uint64_t kNsPerUs = 1000;
    TakeNamed(text.value_or(""), {{"nr_periods", &periods},
                                  {"nr_throttled", &throttled},
                                  {"throttled_usec", &us, kNsPerUs},
                                  {"throttled_time", &ns}});
    add(sample.periods, periods);
    add(sample.throttled_periods, throttled);
    add(sample.throttled_ns, us ? us : ns);
  }
  sample.memory_used.reset();
  for (KeptFile& file : memory_used_) {
    const auto text = file.Read();
    if (text) sample.memory_used = Scanner(*text).Number();
  }
  if (!sample.throttled_periods && !folders_.cpu.path.empty()) {
    missing.Add("throttling of the control group",
                format("no cpu.stat with nr_throttled in group {}", folders_.cpu.path),
                "the cpu controller in the group, and CONFIG_CFS_BANDWIDTH");
  }
  for (PressureFiles& pressure : pressure_) {
    pressure.Read(sample.pressure, "pressure stall information of the control group",
                  "cgroup version 2 and a kernel with CONFIG_PSI", missing);
  }
  if (pressure_.empty()) {
    missing.Add("pressure stall information of the control group", "no cgroup version 2",
                "cgroup version 2 and a kernel with CONFIG_PSI");
  }
}

}  // namespace recpack::probe
