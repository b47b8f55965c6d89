// One model over several devices: which of its operations is computed where.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/train/ops/device_spec.h"
#include "src/train/ops/transfer.h"

namespace recpack::train {

// An operation of a model that can be placed.
struct GraphOperation {
  std::string name;                // "user.conv"
  std::vector<std::string> reads;  // operations, or arrays of the batch, which is on device 0
};

// In the order in which they are computed.
using ModelGraph = std::vector<GraphOperation>;

// By operation of a graph: the number of its device.
using DeviceOfOperation = std::vector<size_t>;

// `text`: "alternate" deals operations to the devices in turn; "user=cpu:0,fm.loss=cpu:1" names
// operations, or parts, which are all that begin with "user."; the longest name counts, and what is
// not named is on the first device. Throws Error (kInvalidArgument) for a part or a device that is
// not there.
DeviceOfOperation PlaceOperations(const std::string& text, const ModelGraph& graph,
                                  const std::vector<DeviceSpec>& devices);

// A line an operation: its name, its device, what it reads and from where.
std::string DescribePlacement(const ModelGraph& graph, const DeviceOfOperation& device_of,
                              const std::vector<DeviceSpec>& devices);

// The devices of a model, each with a thread, and its operations' places. Used by one thread.
class Placement {
 public:
  // All on one device, by the caller's thread. The Ops have to outlive it.
  explicit Placement(Ops& ops);
  Placement(const std::vector<Ops*>& devices, const ModelGraph& graph,
            const DeviceOfOperation& device_of);

  bool several() const noexcept { return queues_.size() > 1; }
  // Each device tells a watcher of its own work, by its number here. Where there are GPUs the
  // driver does, by its own numbers.
  bool devices_tell() const noexcept { return devices_tell_; }
  DeviceQueue& first() noexcept { return *queues_[0]; }
  DeviceQueue& At(const std::string& operation);
  TransferLog& transfers() noexcept { return transfers_; }

  // Until all devices have done what was given to them. Throws what one of them threw.
  void Join();

 private:
  std::vector<std::unique_ptr<DeviceQueue>> queues_;
  std::map<std::string, DeviceQueue*> queue_of_;  // those that are not named: the first
  TransferLog transfers_;
  bool devices_tell_ = false;
};

}  // namespace recpack::train
