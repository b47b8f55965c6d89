#include <cmath>
#include <nlohmann/json.hpp>

#include "src/probe/doctor/machine.h"

namespace recpack::probe {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json ToJson(const Reading<T>& reading) {
  if (!reading) return {{"unavailable", reading.reason()}};
  return *reading;
}

// JSON cannot represent infinity: it becomes "unlimited".
Json Limit(const Reading<double>& reading) {
  if (reading && !std::isfinite(*reading)) return "unlimited";
  return ToJson(reading);
}
Json Limit(const Reading<uint64_t>& reading) {
  if (reading && *reading == kUnlimited) return "unlimited";
  return ToJson(reading);
}

Json ToJson(const MachineGpus& gpus) {
  Json json = {{"count", ToJson(gpus.count)},
               {"driver", ToJson(gpus.driver)},
               {"cuda", ToJson(gpus.cuda)},
               {"devices", Json::array()},
               {"links", Json::array()}};
  for (const GpuSample& gpu : gpus.gpus) {
    Json each = {{"device", gpu.device}, {"name", ToJson(gpu.name)}};
    if (gpu.values) {
      each["memory"] = ToJson(gpu.values->memory_total);
      each["pcie_generation"] = ToJson(gpu.values->pcie_generation);
      each["pcie_generation_max"] = ToJson(gpu.values->most_pcie_generation);
      each["pcie_width"] = ToJson(gpu.values->pcie_width);
      each["pcie_width_max"] = ToJson(gpu.values->most_pcie_width);
      each["power_limit_w"] = ToJson(gpu.values->power_limit);
    } else {
      each["unavailable"] = gpu.values.reason();
    }
    json["devices"].push_back(each);
  }
  for (const GpuLink& link : gpus.links) {
    json["links"].push_back({{"devices", {link.one, link.other}},
                             {"path", ToJson(link.path)},
                             {"peer_access", ToJson(link.peer_access)}});
  }
  return json;
}

}  // namespace

std::string MachineJson(const Machine& machine) {
  const auto& [host, cores, memory, kernel, storage, gpus] = machine;
  Json json = {{"host", host}};
  json["processors"] = {{"model", ToJson(cores.model)},
                        {"online", ToJson(cores.online)},
                        {"allowed", ToJson(cores.allowed)},
                        {"used", cores.used},
                        {"threads_per_core", ToJson(cores.threads_per_core)},
                        {"sockets", ToJson(cores.sockets)},
                        {"numa_nodes", ToJson(cores.numa_nodes)},
                        {"limit", Limit(cores.limit)},
                        {"governor", ToJson(cores.governor)},
                        {"mhz", ToJson(cores.mhz)},
                        {"mhz_max", ToJson(cores.most_mhz)}};
  json["memory"] = {
      {"total", ToJson(memory.total)},          {"available", ToJson(memory.available)},
      {"limit", Limit(memory.limit)},           {"may_lock", Limit(memory.locked)},
      {"shm", ToJson(memory.shared)},           {"shm_free", ToJson(memory.shared_free)},
      {"huge_pages", ToJson(memory.huge_pages)}};
  json["kernel"] = {{"release", ToJson(kernel.release)},
                    {"open_files", Limit(kernel.open_files)},
                    {"open_files_max", Limit(kernel.most_open_files)},
                    {"io_uring", ToJson(kernel.io_uring)},
                    {"perf_event_paranoid", ToJson(kernel.perf_event_paranoid)},
                    {"rdma", kernel.rdma}};
  json["storage"] = {{"path", storage.path},
                     {"mount_point", ToJson(storage.mount_point)},
                     {"file_system", ToJson(storage.file_system)},
                     {"source", ToJson(storage.source)},
                     {"options", ToJson(storage.options)},
                     {"kind", ToJson(storage.kind)},
                     {"size", ToJson(storage.size)},
                     {"free", ToJson(storage.free)}};
  json["gpus"] = ToJson(gpus);
  json["findings"] = Json::array();
  for (const MachineFinding& finding : CheckMachine(machine)) {
    json["findings"].push_back(
        {{"surely", finding.surely}, {"what", finding.what}, {"action", finding.action}});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace recpack::probe
