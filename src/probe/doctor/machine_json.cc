#include <cmath>
#include <nlohmann/json.hpp>

#include "src/probe/doctor/show_machine.h"

namespace recpack::probe {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json Of(const Reading<T>& reading) {
  if (!reading) return {{"unavailable", reading.reason()}};
  return *reading;
}

// JSON has no infinity: "unlimited".
Json Limit(const Reading<double>& reading) {
  if (reading && !std::isfinite(*reading)) return "unlimited";
  return Of(reading);
}
Json Limit(const Reading<uint64_t>& reading) {
  if (reading && *reading == kUnlimited) return "unlimited";
  return Of(reading);
}

Json Of(const MachineGpus& gpus) {
  Json json = {{"count", Of(gpus.count)},
               {"driver", Of(gpus.driver)},
               {"cuda", Of(gpus.cuda)},
               {"devices", Json::array()}};
  for (const GpuSample& gpu : gpus.gpus) {
    Json each = {{"device", gpu.device}, {"name", Of(gpu.name)}};
    if (gpu.values) {
      each["memory"] = Of(gpu.values->memory_total);
      each["pcie_generation"] = Of(gpu.values->pcie_generation);
      each["pcie_generation_max"] = Of(gpu.values->most_pcie_generation);
      each["pcie_width"] = Of(gpu.values->pcie_width);
      each["pcie_width_max"] = Of(gpu.values->most_pcie_width);
      each["power_limit_w"] = Of(gpu.values->power_limit);
    } else {
      each["unavailable"] = gpu.values.reason();
    }
    json["devices"].push_back(each);
  }
  return json;
}

}  // namespace

std::string MachineJson(const Machine& machine) {
  const auto& [host, cores, memory, kernel, storage, gpus] = machine;
  Json json = {{"host", host}};
  json["processors"] = {{"model", Of(cores.model)},
                        {"online", Of(cores.online)},
                        {"allowed", Of(cores.allowed)},
                        {"used", cores.used},
                        {"threads_per_core", Of(cores.threads_per_core)},
                        {"numa_nodes", Of(cores.numa_nodes)},
                        {"limit", Limit(cores.limit)},
                        {"governor", Of(cores.governor)},
                        {"mhz", Of(cores.mhz)},
                        {"mhz_max", Of(cores.most_mhz)}};
  json["memory"] = {{"total", Of(memory.total)},          {"available", Of(memory.available)},
                    {"limit", Limit(memory.limit)},       {"may_lock", Limit(memory.locked)},
                    {"shm", Of(memory.shared)},           {"shm_free", Of(memory.shared_free)},
                    {"huge_pages", Of(memory.huge_pages)}};
  json["kernel"] = {{"release", Of(kernel.release)},
                    {"open_files", Limit(kernel.open_files)},
                    {"open_files_max", Limit(kernel.most_open_files)},
                    {"io_uring", Of(kernel.io_uring)},
                    {"perf_event_paranoid", Of(kernel.perf_event_paranoid)},
                    {"rdma", kernel.rdma}};
  json["storage"] = {{"path", storage.path},
                     {"mount_point", Of(storage.mount_point)},
                     {"file_system", Of(storage.file_system)},
                     {"source", Of(storage.source)},
                     {"options", Of(storage.options)},
                     {"kind", Of(storage.kind)},
                     {"size", Of(storage.size)},
                     {"free", Of(storage.free)}};
  json["gpus"] = Of(gpus);
  json["findings"] = Json::array();
  for (const MachineFinding& finding : FindingsOf(machine)) {
    json["findings"].push_back(
        {{"surely", finding.surely}, {"what", finding.what}, {"action", finding.action}});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace recpack::probe
