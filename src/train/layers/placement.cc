#include "src/train/layers/placement.h"

#include <fnmatch.h>

#include <algorithm>
#include <exception>
#include <string_view>

#include "recpack/base/error.h"
#include "recpack/base/text.h"
#include "src/base/format.h"

namespace recpack::train {
namespace {

struct Part {
  std::string name;
  size_t device;
};

// Whether the name or pattern matches the operation, or its name up to a dot.
bool Covers(const std::string& part, const std::string& operation) {
  for (size_t end = 0; end < operation.size();) {
    end = std::min(operation.find('.', end + 1), operation.size());
    if (::fnmatch(part.c_str(), operation.substr(0, end).c_str(), 0) == 0) return true;
  }
  return false;
}

// How exact a name or pattern is: its characters that are no wildcards.
size_t Exactness(const std::string& part) {
  return static_cast<size_t>(
      std::ranges::count_if(part, [](char c) { return c != '*' && c != '?'; }));
}

std::string DeviceNames(const std::vector<DeviceSpec>& devices) {
  std::vector<std::string> names(devices.size());
  std::transform(devices.begin(), devices.end(), names.begin(), DeviceName);
  return JoinNames(names);
}

// Names of the operations and of their parts (prefixes).
std::string PartNames(const ModelGraph& graph) {
  std::vector<std::string> names;
  for (const GraphOperation& operation : graph) {
    const std::string part = operation.name.substr(0, operation.name.find('.'));
    if (names.empty() || names.back() != part) names.push_back(part);
  }
  for (const GraphOperation& operation : graph) {
    if (std::find(names.begin(), names.end(), operation.name) == names.end()) {
      names.push_back(operation.name);
    }
  }
  return JoinNames(names);
}

// Throws for a name within an operation.
void RefuseInside(const std::string& name, const ModelGraph& graph) {
  const auto whole = std::ranges::find_if(
      graph, [&](const GraphOperation& operation) { return Covers(operation.name, name); });
  if (whole == graph.end()) return;
  throw Error(ErrorKind::kUnsupported,
              format("{} is inside {}, which cannot be split over devices", name, whole->name), {},
              format("place {} as a whole", whole->name));
}

Part ParsePart(const std::string& text, const ModelGraph& graph,
               const std::vector<DeviceSpec>& devices) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) {
    throw Error(ErrorKind::kInvalidArgument, format("'{}' places nothing", text), {},
                "write PART=DEVICE, as in user=cpu:0,*.fc=cpu:1 or layer1=cpu:0, or 'alternate'");
  }
  Part part{text.substr(0, equals), 0};
  const std::string device = text.substr(equals + 1);
  const bool known = std::any_of(graph.begin(), graph.end(), [&](const GraphOperation& operation) {
    return Covers(part.name, operation.name);
  });
  if (!known) {
    RefuseInside(part.name, graph);
    throw Error(ErrorKind::kInvalidArgument, format("the model has no part '{}'", part.name), {},
                format("its parts are {}", PartNames(graph)));
  }
  const std::vector<DeviceSpec> named = ParseDevices(device);
  const auto at = std::find(devices.begin(), devices.end(), named.front());
  if (at == devices.end()) {
    throw Error(
        ErrorKind::kInvalidArgument,
        format("{} is placed on {}, which is none of the training's devices", part.name, device),
        {}, format("these are {}: name it among --devices", DeviceNames(devices)));
  }
  part.device = static_cast<size_t>(at - devices.begin());
  return part;
}

// `devices`: names.
std::string Describe(const ModelGraph& graph, const DeviceOfOperation& device_of,
                     const std::vector<std::string>& devices) {
  std::string text;
  for (size_t i = 0; i < graph.size(); ++i) {
    const std::string& at = devices[device_of[i]];
    std::vector<std::string> sources;
    for (const std::string& source : graph[i].reads) {
      const auto made = std::find_if(graph.begin(), graph.end(),
                                     [&](const auto& other) { return other.name == source; });
      const size_t from =
          made == graph.end() ? 0 : device_of[static_cast<size_t>(made - graph.begin())];
      sources.push_back(
          format("{} {}", source, from == device_of[i] ? "there" : "copied from " + devices[from]));
    }
    text +=
        format("{}{} on {} reads {}", i == 0 ? "" : "\n", graph[i].name, at, JoinNames(sources));
  }
  return text;
}

}  // namespace

DeviceOfOperation PlaceOperations(const std::string& text, const ModelGraph& graph,
                                  const std::vector<DeviceSpec>& devices) {
  DeviceOfOperation device_of(graph.size(), 0);
  if (text == "alternate") {
    for (size_t i = 0; i < graph.size(); ++i) device_of[i] = i % devices.size();
    return device_of;
  }
  std::vector<std::string> placed_by(graph.size());
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const Part part = ParsePart(text.substr(begin, end - begin), graph, devices);
    begin = end + 1;
    for (size_t i = 0; i < graph.size(); ++i) {
      if (!Covers(part.name, graph[i].name)) continue;
      const size_t before = Exactness(placed_by[i]), now = Exactness(part.name);
      if (!placed_by[i].empty() && now < before) continue;
      if (!placed_by[i].empty() && now == before) {
        throw Error(
            ErrorKind::kInvalidArgument,
            format("{} is placed by '{}' and by '{}'", graph[i].name, placed_by[i], part.name), {},
            "leave one of them out, or make one more exact");
      }
      placed_by[i] = part.name;
      device_of[i] = part.device;
    }
  }
  return device_of;
}

std::string DescribePlacement(const ModelGraph& graph, const DeviceOfOperation& device_of,
                              const std::vector<DeviceSpec>& devices) {
  std::vector<std::string> names(devices.size());
  std::transform(devices.begin(), devices.end(), names.begin(), DeviceName);
  return Describe(graph, device_of, names);
}

std::string DescribeWhole(const ModelGraph& graph, const std::vector<DeviceSpec>& devices) {
  return Describe(graph, DeviceOfOperation(graph.size(), 0), {DeviceNames(devices)});
}

Placement::Placement(Ops& ops) {
  queues_.push_back(std::make_unique<DeviceQueue>(ops, DeviceQueue::Done::kAtOnce));
}

Placement::Placement(const std::vector<Ops*>& devices, const ModelGraph& graph,
                     const DeviceOfOperation& device_of) {
  devices_tell_ = std::all_of(devices.begin(), devices.end(),
                              [](const Ops* ops) { return ops->Stream() == nullptr; });
  for (size_t i = 0; i < devices.size(); ++i) {
    queues_.push_back(
        std::make_unique<DeviceQueue>(*devices[i], DeviceQueue::Done::kByOwnThread,
                                      devices_tell_ ? static_cast<uint16_t>(i) : Event::kNoDevice));
  }
  for (size_t i = 0; i < graph.size(); ++i) queue_of_[graph[i].name] = queues_[device_of[i]].get();
}

DeviceQueue& Placement::At(const std::string& operation) {
  const auto found = queue_of_.find(operation);
  return found == queue_of_.end() ? first() : *found->second;
}

void Placement::Join() {
  std::exception_ptr failure;
  for (const auto& queue : queues_) {
    try {
      queue->Join();
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace recpack::train
