// Fake of the driver's libnvidia-ml.so.1. Its values are in the file that FAKE_NVML names, which is
// read at each call, so that a test can change it. Without the file, no driver is loaded.
//
//   devices 2                     and DEVICE.KEY VALUE, in NVML's units; missing keys are "not
//   driver 580.95.05              supported"; device `*`: all devices without the key
//   cuda 13000
//   0.name NVIDIA H200
//   0.utilization 55 20           percent: kernels, memory
//   0.power 350000                mW; power_limit, sm_clock, sm_clock_max, memory_clock,
//   0.processes 4711:1048576      clock_reasons, memory (total, reserved, free, used), pcie_tx,
//   0.gpm 2:55.5 10:30            pcie_rx, pcie_generation, pcie_width, most_pcie_generation,
//                                 most_pcie_width, temperature, mig, uuid
//   0.links 1:10:0:5              another device: the common ancestor's level, and the status of
//                                 reading its memory and of NVLink; both ways
//   fail FUNCTION CODE [DEVICE [FROM [TO]]]   FUNCTION, DEVICE: or *; calls count from 0
//   block FUNCTION PATH           blocks until PATH does not exist
//
// FAKE_NVML_OLD: behaves like a driver from before 2022.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "src/probe/gpu/nvml_abi.h"

namespace {

using namespace recpack::probe::nvml;  // NOLINT(google-build-using-namespace): this file implements
                                       // it

constexpr Return kInvalidArgument = 2;
constexpr int kNoDevice = -1;

// Never destroyed: detached threads may call while the process ends.
std::mutex& mutex = *new std::mutex;  // guards the variables below
auto& calls = *new std::map<std::pair<std::string, int>, int>;
bool initialised = false;
unsigned life = 0;  // number of driver loads: handles of earlier ones are invalid

using Lines = std::vector<std::vector<std::string>>;

Lines Script() {
  Lines lines;
  static const char* const path = std::getenv("FAKE_NVML");
  if (path == nullptr) return lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::vector<std::string> split;
    for (std::string word; words >> word;) split.push_back(word);
    if (!split.empty()) lines.push_back(split);
  }
  return lines;
}

// Returns an empty result if the script has no such line.
std::vector<std::string> Words(const std::string& key) {
  for (const auto& line : Script()) {
    if (line[0] == key) return {line.begin() + 1, line.end()};
  }
  return {};
}

constexpr int kStale = -2;
constexpr unsigned kHandles = 1000;  // per driver load

int Index(Device device) {
  const auto handle = reinterpret_cast<uintptr_t>(device);
  return handle / kHandles == life ? static_cast<int>(handle % kHandles) : kStale;
}

std::vector<std::string> Words(Device device, const std::string& key) {
  auto words = Words(std::to_string(Index(device)) + "." + key);
  return words.empty() ? Words("*." + key) : words;
}

std::vector<double> Numbers(Device device, const std::string& key) {
  std::vector<double> numbers;
  for (const auto& word : Words(device, key)) numbers.push_back(std::strtod(word.c_str(), nullptr));
  return numbers;
}

bool Matches(const std::string& pattern, const std::string& text) {
  return pattern == "*" || pattern == text;
}

// Returns the scripted failure of a call; kSuccess: the call proceeds.
Return Enter(const std::string& function, int device = kNoDevice) {
  const Lines script = Script();
  int call = 0;
  {
    const std::lock_guard lock(mutex);
    call = calls[{function, device}]++;
    if (function == "nvmlInit_v2") initialised = !script.empty();
    if (function == "nvmlInit_v2" && !initialised) return kDriverNotLoaded;
    if (!initialised) return kUninitialized;
    if (function == "nvmlInit_v2") ++life;
    if (device == kStale) return kInvalidArgument;
  }
  for (const auto& line : script) {
    if (line[0] == "block" && line[1] == function) {
      while (std::filesystem::exists(line[2])) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
    if (line[0] != "fail" || !Matches(line[1], function)) continue;
    if (line.size() > 3 && !Matches(line[3], std::to_string(device))) continue;
    if (line.size() > 4 && call < std::stoi(line[4])) continue;
    if (line.size() > 5 && call >= std::stoi(line[5])) continue;
    return std::stoi(line[2]);
  }
  return kSuccess;
}

Return Number(const char* function, Device device, const char* key, unsigned* value) {
  if (const Return code = Enter(function, Index(device)); code != kSuccess) return code;
  const auto numbers = Numbers(device, key);
  if (numbers.empty()) return kNotSupported;
  *value = static_cast<unsigned>(numbers[0]);
  return kSuccess;
}

Return Text(const char* function, Device device, const char* key, char* text, unsigned size) {
  if (const Return code = Enter(function, Index(device)); code != kSuccess) return code;
  std::string joined;
  for (const auto& word : Words(device, key)) joined += (joined.empty() ? "" : " ") + word;
  if (joined.empty()) return kNotSupported;
  std::snprintf(text, size, "%s", joined.c_str());
  return kSuccess;
}

Return Processes(const char* function, Device device, unsigned* count, ProcessInfo* infos) {
  if (const Return code = Enter(function, Index(device)); code != kSuccess) return code;
  const auto words = Words(device, "processes");
  const unsigned room = *count;
  *count = static_cast<unsigned>(words.size());
  if (words.size() > room) return kInsufficientSize;
  for (size_t i = 0; i < words.size(); ++i) {
    unsigned pid = 0;
    long long memory = 0;
    std::sscanf(words[i].c_str(), "%u:%lld", &pid, &memory);  // -1: not available
    infos[i] = {pid, static_cast<unsigned long long>(memory), ~0u, ~0u};
  }
  return kSuccess;
}

Return ClockReasons(const char* function, Device device, unsigned long long* bits) {
  if (const Return code = Enter(function, Index(device)); code != kSuccess) return code;
  const auto numbers = Numbers(device, "clock_reasons");
  if (numbers.empty()) return kNotSupported;
  *bits = static_cast<unsigned long long>(numbers[0]);
  return kSuccess;
}

// `value`: number of a value of a link.
Return Link(const char* function, Device one, Device other, size_t value, unsigned* to) {
  if (const Return code = Enter(function, Index(one)); code != kSuccess) return code;
  for (const auto& [from, with] : {std::pair(one, other), {other, one}}) {
    for (const auto& word : Words(std::to_string(Index(from)) + ".links")) {
      int device = 0;
      unsigned values[3] = {};
      std::sscanf(word.c_str(), "%d:%u:%u:%u", &device, &values[0], &values[1], &values[2]);
      if (device != Index(with)) continue;
      *to = values[value];
      return kSuccess;
    }
  }
  return kNotSupported;
}

}  // namespace

extern "C" {

Return nvmlInit_v2() { return Enter("nvmlInit_v2"); }

Return nvmlShutdown() {
  const std::lock_guard lock(mutex);
  initialised = false;
  calls.clear();
  return kSuccess;
}

const char* nvmlErrorString(Return code) {
  switch (code) {
    case kUninitialized:
      return "Uninitialized";
    case kNotSupported:
      return "Not Supported";
    case kNoPermission:
      return "Insufficient Permissions";
    case kDriverNotLoaded:
      return "Driver Not Loaded";
    case kTimeout:
      return "Timeout";
    case kGpuIsLost:
      return "GPU is lost";
    case kResetRequired:
      return "GPU requires reset";
    default:
      return "Unknown Error";
  }
}

Return nvmlSystemGetCudaDriverVersion_v2(int* version) {
  if (const Return code = Enter("nvmlSystemGetCudaDriverVersion_v2"); code != kSuccess) return code;
  const auto words = Words("cuda");
  if (words.empty()) return kNotSupported;
  *version = std::stoi(words[0]);
  return kSuccess;
}
Return nvmlSystemGetDriverVersion(char* version, unsigned size) {
  if (const Return code = Enter("nvmlSystemGetDriverVersion"); code != kSuccess) return code;
  const auto words = Words("driver");
  if (words.empty()) return kNotSupported;
  std::snprintf(version, size, "%s", words[0].c_str());
  return kSuccess;
}

Return nvmlDeviceGetCount_v2(unsigned* count) {
  if (const Return code = Enter("nvmlDeviceGetCount_v2"); code != kSuccess) return code;
  const auto words = Words("devices");
  *count = words.empty() ? 0 : static_cast<unsigned>(std::stoi(words[0]));
  return kSuccess;
}

Return nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  const Return code = Enter("nvmlDeviceGetHandleByIndex_v2", static_cast<int>(index));
  if (code == kSuccess) *device = reinterpret_cast<Device>(uintptr_t{life} * kHandles + index);
  return code;
}

Return nvmlDeviceGetName(Device device, char* text, unsigned size) {
  return Text("nvmlDeviceGetName", device, "name", text, size);
}

Return nvmlDeviceGetUUID(Device device, char* text, unsigned size) {
  return Text("nvmlDeviceGetUUID", device, "uuid", text, size);
}

Return nvmlDeviceGetTopologyCommonAncestor(Device one, Device other, unsigned* level) {
  return Link("nvmlDeviceGetTopologyCommonAncestor", one, other, 0, level);
}

Return nvmlDeviceGetP2PStatus(Device one, Device other, unsigned capability, unsigned* status) {
  return Link("nvmlDeviceGetP2PStatus", one, other, capability == kP2pNvlink ? 2 : 1, status);
}

Return nvmlDeviceGetMigMode(Device device, unsigned* mode, unsigned* pending) {
  *pending = 0;
  return Number("nvmlDeviceGetMigMode", device, "mig", mode);
}

Return nvmlDeviceGetUtilizationRates(Device device, Utilization* rates) {
  const Return code = Enter("nvmlDeviceGetUtilizationRates", Index(device));
  if (code != kSuccess) return code;
  const auto numbers = Numbers(device, "utilization");
  if (numbers.size() != 2) return kNotSupported;
  *rates = {static_cast<unsigned>(numbers[0]), static_cast<unsigned>(numbers[1])};
  return kSuccess;
}

Return nvmlDeviceGetPowerUsage(Device device, unsigned* power) {
  return Number("nvmlDeviceGetPowerUsage", device, "power", power);
}

Return nvmlDeviceGetEnforcedPowerLimit(Device device, unsigned* limit) {
  return Number("nvmlDeviceGetEnforcedPowerLimit", device, "power_limit", limit);
}

Return nvmlDeviceGetClockInfo(Device device, unsigned type, unsigned* clock) {
  const char* key = type == kClockSm ? "sm_clock" : "memory_clock";
  return Number("nvmlDeviceGetClockInfo", device, key, clock);
}

Return nvmlDeviceGetMaxClockInfo(Device device, unsigned type, unsigned* clock) {
  const char* key = type == kClockSm ? "sm_clock_max" : "memory_clock_max";
  return Number("nvmlDeviceGetMaxClockInfo", device, key, clock);
}

Return nvmlDeviceGetCurrentClocksThrottleReasons(Device device, unsigned long long* bits) {
  return ClockReasons("nvmlDeviceGetCurrentClocksThrottleReasons", device, bits);
}

Return nvmlDeviceGetMemoryInfo(Device device, Memory* memory) {
  const Return code = Enter("nvmlDeviceGetMemoryInfo", Index(device));
  if (code != kSuccess) return code;
  const auto numbers = Numbers(device, "memory");
  if (numbers.size() != 4) return kNotSupported;
  const auto bytes = [&numbers](size_t i) { return static_cast<unsigned long long>(numbers[i]); };
  *memory = {bytes(0), bytes(2), bytes(1) + bytes(3)};
  return kSuccess;
}

Return nvmlDeviceGetPcieThroughput(Device device, unsigned counter, unsigned* value) {
  const char* key = counter == kPcieTx ? "pcie_tx" : "pcie_rx";
  return Number("nvmlDeviceGetPcieThroughput", device, key, value);
}

Return nvmlDeviceGetCurrPcieLinkGeneration(Device device, unsigned* value) {
  return Number("nvmlDeviceGetCurrPcieLinkGeneration", device, "pcie_generation", value);
}

Return nvmlDeviceGetCurrPcieLinkWidth(Device device, unsigned* value) {
  return Number("nvmlDeviceGetCurrPcieLinkWidth", device, "pcie_width", value);
}
Return nvmlDeviceGetMaxPcieLinkGeneration(Device device, unsigned* value) {
  return Number("nvmlDeviceGetMaxPcieLinkGeneration", device, "most_pcie_generation", value);
}
Return nvmlDeviceGetMaxPcieLinkWidth(Device device, unsigned* value) {
  return Number("nvmlDeviceGetMaxPcieLinkWidth", device, "most_pcie_width", value);
}

Return nvmlDeviceGetTemperature(Device device, unsigned, unsigned* value) {
  return Number("nvmlDeviceGetTemperature", device, "temperature", value);
}

Return nvmlDeviceGetComputeRunningProcesses_v2(Device device, unsigned* count, ProcessInfo* infos) {
  return Processes("nvmlDeviceGetComputeRunningProcesses_v2", device, count, infos);
}

#ifndef FAKE_NVML_OLD

Return nvmlDeviceGetCurrentClocksEventReasons(Device device, unsigned long long* bits) {
  return ClockReasons("nvmlDeviceGetCurrentClocksEventReasons", device, bits);
}

Return nvmlDeviceGetMemoryInfo_v2(Device device, Memory2* memory) {
  const Return code = Enter("nvmlDeviceGetMemoryInfo_v2", Index(device));
  if (code != kSuccess) return code;
  const auto numbers = Numbers(device, "memory");
  if (numbers.size() != 4) return kNotSupported;
  if (memory->version != kMemory2Version) return kInvalidArgument;
  const auto bytes = [&numbers](size_t i) { return static_cast<unsigned long long>(numbers[i]); };
  *memory = {memory->version, bytes(0), bytes(1), bytes(2), bytes(3)};
  return kSuccess;
}

Return nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned* count, ProcessInfo* infos) {
  return Processes("nvmlDeviceGetComputeRunningProcesses_v3", device, count, infos);
}

Return nvmlGpmQueryDeviceSupport(Device device, GpmSupport* support) {
  const Return code = Enter("nvmlGpmQueryDeviceSupport", Index(device));
  if (code != kSuccess) return code;
  if (support->version != kGpmSupportVersion) return kInvalidArgument;
  support->supported = Words(device, "gpm").empty() ? 0 : 1;
  return kSuccess;
}

// A sample holds its time and its device.
struct FakeGpmSample {
  int taken = 0;
  Device device = nullptr;
};

Return nvmlGpmSampleAlloc(GpmSample* sample) {
  *sample = reinterpret_cast<GpmSample>(new FakeGpmSample);
  return kSuccess;
}

Return nvmlGpmSampleFree(GpmSample sample) {
  delete reinterpret_cast<FakeGpmSample*>(sample);
  return kSuccess;
}

Return nvmlGpmSampleGet(Device device, GpmSample sample) {
  const Return code = Enter("nvmlGpmSampleGet", Index(device));
  if (code != kSuccess) return code;
  static int samples = 0;
  const std::lock_guard lock(mutex);
  *reinterpret_cast<FakeGpmSample*>(sample) = {++samples, device};
  return kSuccess;
}

Return nvmlGpmMetricsGet(GpmMetricsGet* get) {
  const auto& before = *reinterpret_cast<const FakeGpmSample*>(get->before);
  const auto& after = *reinterpret_cast<const FakeGpmSample*>(get->after);
  const Return code = Enter("nvmlGpmMetricsGet", Index(after.device));
  if (code != kSuccess) return code;
  if (get->version != kGpmMetricsGetVersion || before.taken == 0 || before.taken >= after.taken ||
      before.device != after.device) {
    return kInvalidArgument;
  }
  for (unsigned i = 0; i < get->count; ++i) {
    GpmMetric& metric = get->metrics[i];
    metric.status = kNotSupported;
    for (const auto& word : Words(after.device, "gpm")) {
      unsigned id = 0;
      double value = 0;
      std::sscanf(word.c_str(), "%u:%lf", &id, &value);
      if (id != metric.id) continue;
      metric.status = kSuccess;
      metric.value = value;
    }
  }
  return kSuccess;
}

#endif

}  // extern "C"
