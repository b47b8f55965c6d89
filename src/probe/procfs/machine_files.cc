#include "src/probe/procfs/machine_files.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "src/probe/procfs/scanner.h"

namespace recpack::probe {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kSector = 512;  // unit of /proc/diskstats, whatever the disk's sector size
constexpr uint64_t kKibi = 1024;
constexpr uint64_t kNsPerMs = 1'000'000;
constexpr uint64_t kNsPerUs = 1'000;

// Parses "some avg10=0.00 avg60=0.00 avg300=0.00 total=123", optionally followed by "full ...".
Pressure ParsePressure(std::string_view text) {
  Pressure pressure;
  Scanner lines(text);
  while (!lines.done()) {
    Scanner line(lines.Line());
    const std::string_view kind = line.Word();
    for (std::string_view word = line.Word(); !word.empty(); word = line.Word()) {
      if (!word.starts_with("total=")) continue;
      Counter total = Scanner(word.substr(6)).Number();
      if (total) *total *= kNsPerUs;
      if (kind == "some") pressure.some_ns = total;
      if (kind == "full") pressure.full_ns = total;
    }
  }
  return pressure;
}

// Returns the next element of a vector whose elements are reused.
template <typename T>
T& Next(std::vector<T>& list, size_t& used) {
  if (used == list.size()) list.emplace_back();
  return list[used++];
}

}  // namespace

PressureFiles::PressureFiles(KeptFiles* files, const std::string& folder, const std::string& suffix)
    : cpu_(files, folder + "/cpu" + suffix, KeptFile::Size::kOneRead),
      io_(files, folder + "/io" + suffix, KeptFile::Size::kOneRead),
      memory_(files, folder + "/memory" + suffix, KeptFile::Size::kOneRead) {}

void PressureFiles::Read(PressureStall& stall, const char* what, const char* right,
                         UnseenList& missing) {
  const auto take = [&](KeptFile& file, Pressure& pressure) {
    const auto text = file.Read();
    pressure = text ? ParsePressure(*text) : Pressure();
    if (!text) missing.Add(what, file.path(), file.error(), right);
  };
  take(cpu_, stall.cpu);
  take(io_, stall.io);
  take(memory_, stall.memory);
}

MachineFiles::MachineFiles(KeptFiles* files, const std::string& proc, const std::string& sys)
    : sys_(sys),
      stat_(files, proc + "/stat", KeptFile::Size::kOneRead),
      disks_(files, proc + "/diskstats"),
      network_(files, proc + "/net/dev"),
      memory_(files, proc + "/meminfo", KeptFile::Size::kOneRead),
      vmstat_(files, proc + "/vmstat"),
      pressure_(files, proc + "/pressure", "") {}

void MachineFiles::Read(SystemSample& sample, UnseenList& missing) {
  ReadCores(sample, missing);
  ReadDevices(sample, missing);
  ReadNetwork(sample, missing);
  ReadMemory(sample, missing);
  pressure_.Read(sample.pressure, "pressure stall information",
                 "a kernel with CONFIG_PSI, and psi=1 on its command line", missing);
}

void MachineFiles::ReadCores(SystemSample& sample, UnseenList& missing) {
  forks_.reset();
  size_t used = 0;
  const auto text = stat_.Read();
  if (!text) missing.Add("processors", stat_.path(), stat_.error(), "/proc of the kernel");
  Scanner lines(text.value_or(""));
  while (!lines.done()) {
    Scanner line(lines.Line());
    const std::string_view name = line.Word();
    if (name == "processes") forks_ = line.Number();
    if (!name.starts_with("cpu") || name.size() == 3) continue;
    CoreTimes& core = Next(sample.cores, used);
    core.core = static_cast<int>(Scanner(name.substr(3)).Number().value_or(0));
    const uint64_t user = TicksToNs(line.Number().value_or(0));
    const uint64_t nice = TicksToNs(line.Number().value_or(0));
    const uint64_t system = TicksToNs(line.Number().value_or(0));
    core.idle_ns = TicksToNs(line.Number().value_or(0));
    core.iowait_ns = TicksToNs(line.Number());
    const uint64_t interrupts = TicksToNs(line.Number().value_or(0));
    const uint64_t deferred = TicksToNs(line.Number().value_or(0));
    core.steal_ns = TicksToNs(line.Number());
    core.busy_ns = user + nice + system + interrupts + deferred;  // guests are part of user
  }
  sample.cores.resize(used);
  if (text && used == 0) missing.Add("processors", stat_.path() + " names none", "");
}

// Partitions are left out: their requests count for their disk as well.
bool MachineFiles::IsWholeDisk(std::string_view name) {
  if (whole_disks_.contains(name)) return true;
  if (parts_.contains(name)) return false;
  std::string file(name);
  std::replace(file.begin(), file.end(), '/', '!');
  std::error_code ignored;
  const bool whole =
      fs::exists(sys_ + "/block/" + file, ignored) || !fs::exists(sys_ + "/block", ignored);
  (whole ? whole_disks_ : parts_).emplace(name);
  return whole;
}

void MachineFiles::ReadDevices(SystemSample& sample, UnseenList& missing) {
  size_t used = 0;
  const auto text = disks_.Read();
  if (!text) {
    missing.Add("block devices", disks_.path(), disks_.error(),
                "/proc/diskstats, which some containers hide");
  }
  Scanner lines(text.value_or(""));
  while (!lines.done()) {
    Scanner line(lines.Line());
    line.Word();  // major and minor number
    line.Word();
    const std::string_view name = line.Word();
    uint64_t fields[11] = {};
    int known = 0;
    for (uint64_t& field : fields) {
      const auto number = line.Number();
      if (!number) break;
      field = *number;
      ++known;
    }
    // reads merged sectors ms, writes merged sectors ms, in flight, busy ms, weighted ms
    if (known < 11 || (fields[0] == 0 && fields[4] == 0) || !IsWholeDisk(name)) continue;
    BlockDevice& device = Next(sample.devices, used);
    device.name = name;
    device.reads = fields[0];
    device.read_bytes = fields[2] * kSector;
    device.read_ns = fields[3] * kNsPerMs;
    device.writes = fields[4];
    device.written_bytes = fields[6] * kSector;
    device.write_ns = fields[7] * kNsPerMs;
    device.busy_ns = fields[9] * kNsPerMs;
    device.weighted_ns = fields[10] * kNsPerMs;
  }
  sample.devices.resize(used);
}

void MachineFiles::ReadNetwork(SystemSample& sample, UnseenList& missing) {
  size_t used = 0;
  const auto text = network_.Read();
  if (!text) missing.Add("network", network_.path(), network_.error(), "/proc/net");
  Scanner lines(text.value_or(""));
  while (!lines.done()) {
    const std::string_view line = lines.Line();
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;  // one of the two header lines
    Scanner numbers(line.substr(colon + 1));
    uint64_t fields[12] = {};
    for (uint64_t& field : fields) field = numbers.Number().value_or(0);
    NetworkInterface& interface = Next(sample.network, used);
    interface.name = Scanner(line.substr(0, colon)).Word();
    interface.received_bytes = fields[0];
    interface.received_packets = fields[1];
    interface.received_drops = fields[3];
    interface.sent_bytes = fields[8];
    interface.sent_packets = fields[9];
    interface.sent_drops = fields[11];
  }
  sample.network.resize(used);
}

void MachineFiles::ReadMemory(SystemSample& sample, UnseenList& missing) {
  const auto memory = memory_.Read();
  if (!memory) missing.Add("memory", memory_.path(), memory_.error(), "/proc of the kernel");
  TakeNamed(memory.value_or(""), {{"MemTotal", &sample.memory.total_bytes, kKibi},
                                  {"MemAvailable", &sample.memory.available_bytes, kKibi},
                                  {"Cached", &sample.memory.cached_bytes, kKibi}});
  const auto vmstat = vmstat_.Read();
  Counter refaults_before_5_9;
  PageCacheMisses& page_cache = sample.page_cache;
  TakeNamed(vmstat.value_or(""), {{"workingset_refault_file", &page_cache.refaults},
                                  {"workingset_refault", &refaults_before_5_9},
                                  {"pgmajfault", &page_cache.major_faults},
                                  {"pgpgin", &page_cache.read_bytes, kKibi}});
  if (!page_cache.refaults) page_cache.refaults = refaults_before_5_9;
  if (!vmstat) {
    missing.Add("page-cache misses", vmstat_.path(), vmstat_.error(), "/proc of the kernel");
  } else if (!page_cache.refaults) {
    missing.Add("page-cache refaults", vmstat_.path() + " has no workingset_refault_file",
                "Linux 3.15 or newer");
  }
}

}  // namespace recpack::probe
