#include <unistd.h>

#include <cstdlib>
#include <set>

#include "recpack/base/cpu.h"
#include "src/probe/doctor/machine_parts.h"
#include "src/probe/procfs/scanner.h"

namespace recpack::probe {
namespace {

// Returns VALUE of the first line "KEY : VALUE" or "KEY:\tVALUE".
Reading<std::string> FindValue(const Reading<std::string>& text, std::string_view key,
                               const std::string& path) {
  if (!text) return Unavailable{text.reason()};
  Scanner lines(*text);
  while (!lines.done()) {
    const std::string_view line = lines.Line();
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || !line.starts_with(key)) continue;
    if (line.find_first_not_of(" \t", key.size()) != colon) continue;
    const size_t begin = line.find_first_not_of(" \t", colon + 1);
    if (begin != std::string_view::npos) return std::string(line.substr(begin));
  }
  return Unavailable{format("{} has no '{}'", path, key)};
}

Reading<int> CountListed(const Reading<std::string>& list) {
  if (!list) return Unavailable{list.reason()};
  const auto count = static_cast<int>(ParseCoreList(*list).size());
  if (count == 0) return Unavailable{"the list is empty"};
  return count;
}

// The key depends on the architecture.
Reading<std::string> CpuModel(const MachineOptions& options) {
  const std::string path = options.proc + "/cpuinfo";
  const Reading<std::string> text = ReadText(path);
  for (const char* key : {"model name", "Model", "CPU part"}) {
    if (auto model = FindValue(text, key, path)) return model;
  }
  return FindValue(text, "model name", path);
}

Reading<int> NumaNodes(const MachineOptions& options) {
  return CountListed(ReadText(options.sys + "/devices/system/node/online"));
}

// Counts the packages of the processors that are online.
Reading<int> Sockets(const std::string& cpu) {
  const Reading<std::string> online = ReadText(cpu + "/online");
  if (!online) return Unavailable{online.reason()};
  std::set<int> packages;
  for (const int core : ParseCoreList(*online)) {
    auto package = ReadNumber(format("{}/cpu{}/topology/physical_package_id", cpu, core));
    if (!package) return package;
    packages.insert(*package);
  }
  return static_cast<int>(packages.size());
}

Reading<double> CpuLimit(const MachineOptions& options) {
  UnseenList missing;
  const CgroupSample group = ReadCgroup(options, missing);
  if (group.cpu_limit) return *group.cpu_limit;
  return CgroupReason(missing);
}

Reading<int> Megahertz(const std::string& path) {
  constexpr int kKilo = 1000;
  Reading<int> khz = ReadNumber(path);
  if (!khz) return khz;
  return *khz / kKilo;
}

}  // namespace

MachineCores ReadMachineCores(const MachineOptions& options) {
  const std::string cpu = options.sys + "/devices/system/cpu";
  const std::string frequency = cpu + "/cpu0/cpufreq";
  const std::string status = format("{}/{}/status", options.proc, ::getpid());
  MachineCores cores;
  cores.model = CpuModel(options);
  cores.online = CountListed(ReadText(cpu + "/online"));
  cores.allowed = CountListed(FindValue(ReadText(status), "Cpus_allowed_list", status));
  cores.threads_per_core = CountListed(ReadText(cpu + "/cpu0/topology/thread_siblings_list"));
  cores.sockets = Sockets(cpu);
  cores.numa_nodes = NumaNodes(options);
  cores.limit = CpuLimit(options);
  cores.used = AvailableThreads();
  cores.governor = ReadText(frequency + "/scaling_governor");
  cores.frequency_driver = ReadText(frequency + "/scaling_driver");
  cores.mhz = Megahertz(frequency + "/scaling_cur_freq");
  if (!cores.mhz) {
    const std::string path = options.proc + "/cpuinfo";
    const Reading<std::string> text = FindValue(ReadText(path), "cpu MHz", path);
    if (text) cores.mhz = std::atoi(text->c_str());
  }
  cores.most_mhz = Megahertz(frequency + "/cpuinfo_max_freq");
  return cores;
}

}  // namespace recpack::probe
