// Feeder: brings a loader's batches to devices ahead of their steps.
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

// In DeviceFeederOptions::devices: a consumer that is served from host memory.
inline constexpr int kHostConsumer = -1;

struct DeviceFeederOptions {
  DeviceRuntime* runtime = LinkedRuntime();  // null: host only; must outlive feeder and batches
  // Device numbers, one per consumer; a device may occur several times. kHostConsumer stands for a
  // consumer on the host. Empty: device 0, or the host if there is no device (see
  // DeviceFeeder::reason()). Without a runtime only the number of entries counts: all consumers are
  // served from host memory.
  std::vector<int> devices = {};
  // Batches per consumer that are being copied, ready or held; at least 1. With 2 or more, the next
  // batch is copied while a step runs. Each takes device memory.
  uint32_t depth = 3;
};

// Deals the loader's batches to D devices: a step is one batch for each, so all devices have the
// same number of steps per epoch. Batches at the end of an epoch that do not make a full step are
// handled as LoaderOptions::last_batch says: dropped, or filled up with batches whose mask is all
// 0, or with empty batches.
//
// Images are copied as u8 on a separate stream and finished on the device, bit for bit as on the
// host. A background thread does this. Consumers may share one thread or have one each.
class DeviceFeeder {
 public:
  // Makes the loader, with pinned slabs near the devices, images left for the devices to finish,
  // and `prefetch` rounded up to what the devices need. Throws as Loader; Error (kInvalidArgument)
  // if LastBatch::kDrop leaves no step in an epoch; Error (kDevice), with advice, if a device does
  // not exist or memory cannot be allocated.
  DeviceFeeder(const Mixture& samples, LoaderOptions loader, DeviceFeederOptions options = {});

  // Takes ownership of a loader, whose images may be finished or left for devices. Its slabs must
  // be pinned (PinnedSlabs) if there is a device. If its max_live_batches is 0, it has only the
  // `prefetch` slabs.
  explicit DeviceFeeder(std::unique_ptr<Loader> loader, DeviceFeederOptions options = {});

  // Waits for copies in progress. Batches that are still held stay valid.
  ~DeviceFeeder();

  // Returns the next batch of consumer `index`; nullopt at the end of each epoch, after which the
  // next epoch begins. Waits until the copy was enqueued, not until it is complete. Throws what the
  // loader threw, and Error: kDevice from the runtime; kInvalidArgument if the consumer already
  // holds `depth` batches. If nothing came for the loader's stall_timeout: kInvalidArgument if this
  // consumer, on the host, holds a batch whose slab the loader needs next although it released
  // later ones; kIo if another consumer does, or takes no batches.
  std::optional<DeviceBatch> Next(size_t index = 0);

  // Ends the run for all consumers: waiting and later calls of Next() throw Error (kDevice) with
  // the first reason given. Thread-safe.
  void Abort(const std::string& reason);

  size_t devices() const noexcept;
  // The arrays of the batches.
  const std::vector<ArraySpec>& arrays() const noexcept;
  uint64_t steps_per_epoch() const noexcept;
  // Why batches stay on the host; empty if they go to a device.
  const std::string& reason() const noexcept;
  const Mixture& samples() const noexcept;
  const LoaderOptions& loader_options() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack
