// Placement of one model's operations on several devices.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/train/layers/transfer.h"
#include "src/train/ops/device_spec.h"

namespace recpack::train {

// An operation of a model that can be placed.
struct GraphOperation {
  std::string name;                // "user.conv"
  std::vector<std::string> reads;  // operations, or arrays of the batch, which is on device 0
};

// In execution order.
using ModelGraph = std::vector<GraphOperation>;

// Device number per operation of a graph.
using DeviceOfOperation = std::vector<size_t>;

// `text`: "alternate" assigns operations to the devices in turn. "user=cpu:0,fm.loss=cpu:1" names
// operations or parts; a part is all operations that begin with "user.". Names may have the
// wildcards * and ?, as "*.conv=cpu:1" has. The matching name with the most characters that are no
// wildcards wins; unnamed operations are on the first device. Throws Error (kInvalidArgument) for a
// name that matches nothing, for two that match equally well, and for an unknown device.
DeviceOfOperation PlaceOperations(const std::string& text, const ModelGraph& graph,
                                  const std::vector<DeviceSpec>& devices);

// One line per operation: its name, its device, and what it reads from where.
std::string DescribePlacement(const ModelGraph& graph, const DeviceOfOperation& device_of,
                              const std::vector<DeviceSpec>& devices);
// The same for devices that each have the whole model.
std::string DescribeWhole(const ModelGraph& graph, const std::vector<DeviceSpec>& devices);

// The devices of a model, each with a thread, and the places of its operations. Not thread-safe.
class Placement {
 public:
  // Everything on one device, on the caller's thread. The Ops must outlive this object.
  explicit Placement(Ops& ops);
  Placement(const std::vector<Ops*>& devices, const ModelGraph& graph,
            const DeviceOfOperation& device_of);

  bool several() const noexcept { return queues_.size() > 1; }
  // Each device reports events of its own work, under its number here. With GPUs the driver reports
  // them, under its own numbers.
  bool devices_tell() const noexcept { return devices_tell_; }
  DeviceQueue& first() noexcept { return *queues_[0]; }
  DeviceQueue& At(const std::string& operation);
  TransferLog& transfers() noexcept { return transfers_; }

  // Blocks until all devices have finished their work. Rethrows the exception of one of them.
  void Join();

 private:
  std::vector<std::unique_ptr<DeviceQueue>> queues_;
  std::map<std::string, DeviceQueue*> queue_of_;  // unlisted operations are on the first device
  TransferLog transfers_;
  bool devices_tell_ = false;
};

}  // namespace recpack::train
