#include <cmath>
#include <map>

#include "src/probe/doctor/ceilings.h"
#include "src/probe/doctor/machine.h"
#include "src/probe/util/units.h"
#include "src/probe/util/wrapped.h"

namespace recpack::probe {
namespace {

std::string Text(const std::string& value) { return value; }
std::string Text(int value) { return std::to_string(value); }
std::string Text(double value) { return std::isfinite(value) ? format("{:.3g}", value) : "none"; }
std::string Text(bool value) { return value ? "yes" : "no"; }

template <typename T>
std::string Text(const Reading<T>& reading) {
  return reading ? Text(*reading) : "unavailable: " + reading.reason();
}

std::string Bytes(const Reading<uint64_t>& reading) {
  if (!reading) return Text(Reading<int>(Unavailable{reading.reason()}));
  return *reading == kUnlimited ? "none" : BytesText(static_cast<double>(*reading));
}

std::string Number(const Reading<uint64_t>& reading) {
  if (!reading) return "unavailable: " + reading.reason();
  return *reading == kUnlimited ? "unlimited" : std::to_string(*reading);
}

std::string Line(const char* name, const std::string& text) {
  return Wrapped(format("  {:<14}", name), text);
}

std::string GpuText(const GpuSample& gpu) {
  if (!gpu.values) return "unavailable: " + gpu.values.reason();
  const GpuValues& values = *gpu.values;
  return format("{}; memory {}; PCIe {} x{} now, at most {} x{}; power limit {} W", Text(gpu.name),
                Bytes(values.memory_total), Text(values.pcie_generation), Text(values.pcie_width),
                Text(values.most_pcie_generation), Text(values.most_pcie_width),
                Text(values.power_limit));
}

std::string LinkText(const GpuLink& link) {
  std::string text = Text(link.path);
  if (!link.peer_access) return text + "; peer access " + Text(link.peer_access);
  return text + (*link.peer_access ? ", with peer access" : ", without peer access");
}

// Pairs of GPUs by their links: "0-1, 2-3: NVLink, with peer access".
std::string LinksText(const std::vector<GpuLink>& links) {
  std::map<std::string, std::string> pairs;
  for (const GpuLink& link : links) {
    std::string& list = pairs[LinkText(link)];
    list += format("{}{}-{}", list.empty() ? "" : ", ", link.one, link.other);
  }
  std::string text;
  for (const auto& [link, list] : pairs) {
    const bool all = pairs.size() == 1 && links.size() > 1;
    text += Line("GPU to GPU", format("{}: {}", all ? "all" : list, link));
  }
  return text;
}

std::string GpusText(const MachineGpus& gpus) {
  if (!gpus.count) return Line("GPUs", "unavailable: " + gpus.count.reason());
  std::string text = Line("GPUs", format("{}; driver {}, CUDA up to {}", *gpus.count,
                                         Text(gpus.driver), Text(gpus.cuda)));
  for (const GpuSample& gpu : gpus.gpus) {
    text += Line(format("GPU {}", gpu.device).c_str(), GpuText(gpu));
  }
  return text + LinksText(gpus.links);
}

// "20.4 GB/s [20.1, 20.6]"
std::string SpreadText(const ceiling::Spread& spread, const std::string& unit) {
  if (!spread.measured()) return "unavailable";
  const std::string value = RateText(spread.value, unit);
  const double wide = spread.value > 0 ? (spread.high - spread.low) / 2 / spread.value : 0;
  return format("{} ±{}", value, Percent(wide, 0));
}

// Pads by columns, not bytes: ± has two bytes.
std::string Padded(std::string text, size_t width) {
  size_t columns = 0;
  for (const char c : text) columns += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
  if (columns < width) text.insert(0, width - columns, ' ');
  return text;
}

}  // namespace

std::string MachineText(const Machine& machine) {
  const MachineCores& cores = machine.cores;
  const MachineMemory& memory = machine.memory;
  const MachineKernel& kernel = machine.kernel;
  const MachineStorage& storage = machine.storage;
  std::string text = format("machine {}\n", machine.host);
  text += Line("processors",
               format("{}; {} online, {} allowed, {} used; threads a core: {}; sockets: {}; NUMA "
                      "nodes: {}; limit of the control group: {}",
                      Text(cores.model), Text(cores.online), Text(cores.allowed), cores.used,
                      Text(cores.threads_per_core), Text(cores.sockets), Text(cores.numa_nodes),
                      Text(cores.limit)));
  text += Line("clock", format("{} MHz now, at most {}; governor {}", Text(cores.mhz),
                               Text(cores.most_mhz), Text(cores.governor)));
  text += Line("memory", format("{}, {} available; limit of the control group: {}; a process may "
                                "lock: {}; huge pages: {}",
                                Bytes(memory.total), Bytes(memory.available), Bytes(memory.limit),
                                Bytes(memory.locked), Text(memory.huge_pages)));
  text += Line("/dev/shm", format("{}, {} free", Bytes(memory.shared), Bytes(memory.shared_free)));
  text += Line("kernel", format("{}; open files: {} (may be raised to {}); io_uring: {}; "
                                "perf_event_paranoid: {}",
                                Text(kernel.release), Number(kernel.open_files),
                                Number(kernel.most_open_files), Text(kernel.io_uring),
                                Text(kernel.perf_event_paranoid)));
  text += Line("storage", format("{}: {} on {} at {}; {}; {}; {} free of {}", storage.path,
                                 Text(storage.file_system), Text(storage.source),
                                 Text(storage.mount_point), Text(storage.kind),
                                 Text(storage.options), Bytes(storage.free), Bytes(storage.size)));
  return text + GpusText(machine.gpus);
}

std::string CeilingsText(const Ceilings& ceilings) {
  std::string text =
      format("ceilings{:>42}{:>28}\n", "one thread", format("{} threads", ceilings.cores));
  std::string reasons;
  if (ceilings.disturbed()) {
    reasons =
        Wrapped("  ! ", format("other programs had work for {:.1f} of the {} cores during the "
                               "measurement: the rates are too low; measure on an idle machine",
                               ceilings.load, ceilings.cores));
  }
  for (const Ceiling& each : ceilings.rates) {
    const bool others = each.threads != ceilings.cores && each.threads > 1;
    text += format("  {:<26}{}{}{}\n", each.name, Padded(SpreadText(each.one, each.unit), 22),
                   Padded(SpreadText(each.all, each.unit), 28),
                   others ? format("  {} at a time", each.threads) : "");
    const std::string why = each.one.measured() ? each.all.unavailable : each.one.unavailable;
    if (!why.empty()) reasons += Wrapped("  - ", each.name + " is unavailable: " + why);
    if (why.empty() && !each.how.empty()) reasons += Wrapped("  - ", each.name + ": " + each.how);
  }
  if (ceilings.resize) {
    reasons += Wrapped(
        "  - ", format("with `recpack pack --resize {}` the data's pictures have {} of their "
                       "bytes and take {} of the time to decode",
                       ceilings.resize->shorter, Percent(ceilings.resize->bytes, 0),
                       Percent(ceilings.resize->seconds, 0)));
  }
  return text + reasons;
}

std::string FindingsText(const std::vector<MachineFinding>& findings) {
  if (findings.empty()) return "findings: none\n";
  std::string text = "findings\n";
  for (const MachineFinding& finding : findings) {
    text += Wrapped(finding.surely ? "  ! " : "  - ", finding.what);
    text += Wrapped("      -> ", finding.action);
  }
  return text;
}

}  // namespace recpack::probe
