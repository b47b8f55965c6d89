// From a loader to devices, ahead of their steps.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recpack/device/batch.h"
#include "recpack/device/runtime.h"
#include "recpack/loader/loader.h"

namespace recpack {

// Among DeviceFeederOptions::devices: a consumer that is served from the host's memory.
inline constexpr int kHostConsumer = -1;

struct DeviceFeederOptions {
  DeviceRuntime* runtime = LinkedRuntime();  // null: the host alone; outlives feeder and batches
  // By number, the same one again for another consumer on it, or kHostConsumer. Empty: device 0, or
  // the host where there is none (see DeviceFeeder::reason()). With no runtime their number alone
  // counts: as many consumers are served from the host's memory.
  std::vector<int> devices = {};
  // Batches of each device that are on their way, wait to be taken or are held; at least 1, from 2
  // on the next one is brought while a step runs. Each takes memory of the device.
  uint32_t depth = 3;
};

// Deals the loader's batches to D devices: one each is a step, so that all have equally many steps
// an epoch. What is left of an epoch and makes no step for all is treated as LoaderOptions::
// last_batch says: left out, or filled up with batches whose mask is 0 throughout, or with empty
// ones.
//
// Pictures cross the bus as u8 on a stream of their own and are finished on the device, with the
// bits that the host would give. A thread does it; consumers are one thread for all devices or one
// each.
class DeviceFeeder {
 public:
  // Makes the loader of a data set, a view of one or a mixture: with pinned slabs near the devices,
  // pictures left to the devices, and `prefetch` rounded up to what they need. Throws as Loader,
  // Error (kInvalidArgument) where LastBatch::kDrop leaves no step of an epoch, and Error (kDevice)
  // for a device that is not there and memory that is not to be had, saying what to lower.
  DeviceFeeder(const Mixture& samples, LoaderOptions loader, DeviceFeederOptions options = {});

  // Of a loader that gives pictures finished or for devices to finish. Its slabs must be pinned
  // (PinnedSlabs) where there is a device. With its max_live_batches 0 those of `prefetch` are all.
  explicit DeviceFeeder(std::unique_ptr<Loader> loader, DeviceFeederOptions options = {});

  // Waits for copies that are under way; batches that are still held stay valid.
  ~DeviceFeeder();

  // The next batch of the `index`th device; nothing at the end of each epoch, after which the next
  // one goes on. Waits until the batch is on its way, not until it is there. Throws what the loader
  // threw, and Error: kDevice from the runtime; kInvalidArgument where the consumer holds `depth`
  // batches itself. Where nothing came for the loader's stall_timeout: kInvalidArgument if the
  // consumer holds a batch, and has let go of later ones, on the host, whose memory the loader
  // needs next; kIo if another one does, or took nothing.
  std::optional<DeviceBatch> Next(size_t index = 0);

  // Ends the run for all consumers: Next() where one waits, and from then on, throws Error
  // (kDevice) with the first reason given. Any thread.
  void Abort(const std::string& reason);

  size_t devices() const noexcept;
  // What the arrays of its batches are.
  const std::vector<ArraySpec>& arrays() const noexcept;
  uint64_t steps_per_epoch() const noexcept;
  // Empty where batches go to a device; else why they stay on the host.
  const std::string& reason() const noexcept;
  const Mixture& samples() const noexcept;
  const LoaderOptions& loader_options() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack
