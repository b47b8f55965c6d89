#include "src/train/world/gradient_sums.h"

#include <algorithm>
#include <span>
#include <vector>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/setup/make_ops.h"

namespace recpack::train {
namespace {

constexpr char kOnHost[] = "gradients are summed in host memory";

bool IsGpu(const DeviceSpec& device) { return device.kind == DeviceKind::kCuda; }

// Lines: why this process's GPUs cannot sum, or an empty one; then each device's name and, for a
// GPU, its identity.
std::string Facts(const TrainerOptions& options) {
  const GpuCollectives& kind = options.between_gpus;
  const bool gpus = std::all_of(options.devices.begin(), options.devices.end(), IsGpu);
  std::string why = gpus && kind.make ? kind.unavailable() : "";
  std::replace(why.begin(), why.end(), '\n', ' ');
  std::string text = why;
  for (const DeviceSpec& device : options.devices) {
    const bool place = IsGpu(device) && kind.place && why.empty();
    text += format("\n{}\n{}", DeviceName(device), place ? kind.place(device.number) : "");
  }
  return text;
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

struct Device {
  std::string name, place;
};

// Returns why the devices of all processes cannot sum on GPUs; empty: they can.
std::string WhyNot(const std::vector<std::string>& facts, const std::string& kind) {
  std::vector<Device> devices;
  for (size_t rank = 0; rank < facts.size(); ++rank) {
    const std::string of = facts.size() > 1 ? format(" of rank {}", rank) : "";
    const auto lines = Lines(facts[rank]);
    if (!lines[0].empty())
      return of.empty() ? lines[0] : format("{}, says rank {}", lines[0], rank);
    for (size_t i = 1; i < lines.size(); i += 2) devices.push_back({lines[i] + of, lines[i + 1]});
  }
  for (auto device = devices.begin(); device != devices.end(); ++device) {
    if (!device->name.starts_with("cuda")) return device->name + " is not a GPU";
    const auto same = std::find_if(
        devices.begin(), device, [&](const Device& other) { return other.place == device->place; });
    if (same == device) continue;
    return format("{} and {} are one GPU, and {} takes one rank per GPU", same->name, device->name,
                  kind);
  }
  return {};
}

GradientSums OfServer(const TrainerOptions& options, size_t processes) {
  const auto gpus = std::count_if(options.devices.begin(), options.devices.end(), IsGpu);
  if (gpus == 0) return {};
  if (options.variables == VariablePlace::kCpu || processes > 1) {
    return {false, "variables and gradients go through host memory"};
  }
  const bool all = static_cast<size_t>(gpus) == options.devices.size();
  return {false, format("variables and gradients are copied from GPU to GPU{}",
                        all ? "" : ", those of CPU devices through host memory")};
}

// Has the same result in all processes, so either all reach the collective calls or none.
std::string WhyOnHost(const TrainerOptions& options, const ProcessWorld& world) {
  if (options.strategy == StrategyKind::kParameterServer) {
    return "variables and gradients go through it";
  }
  if (IsPlaced(options)) return "the model is over several devices";
  if (options.strategy == StrategyKind::kDistributedReplicated) return "the master copy is there";
  return WhyNoGpuSums(options, world);
}

}  // namespace

std::string WhyNoGpuSums(const TrainerOptions& options, const ProcessWorld& world) {
  if (options.sums == SumPlace::kHost) return "as requested";
  if (!options.between_gpus.make) return "this program has no collective for GPUs";
  return WhyNot(world.GatherText(Facts(options)), options.between_gpus.name);
}

GradientSums ChooseGradientSums(const TrainerOptions& options, const ProcessWorld& world) {
  const bool asked = options.sums == SumPlace::kGpus;
  if (!asked && (world.towers() == 1 || IsPlaced(options))) return {};
  if (!asked && options.strategy == StrategyKind::kParameterServer)
    return OfServer(options, world.processes());
  const std::string why = WhyOnHost(options, world);
  if (why.empty()) return {true, format("gradients are summed by {}", options.between_gpus.name)};
  if (asked) {
    throw Error(
        ErrorKind::kUnsupported,
        format("gradients cannot be summed by {}: {}",
               options.between_gpus.name.empty() ? "the GPUs" : options.between_gpus.name, why),
        {}, "give each device a GPU of its own, or sum in host memory (--collective host)");
  }
  if (std::none_of(options.devices.begin(), options.devices.end(), IsGpu)) return {};
  return {false, format("{}: {}", kOnHost, why)};
}

}  // namespace recpack::train
