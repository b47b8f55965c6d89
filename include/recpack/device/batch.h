// Batch of samples in the memory of a device.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recpack/base/gain.h"
#include "recpack/device/runtime.h"
#include "recpack/loader/batch.h"

namespace recpack {

class DeviceSlot;  // src/device/slot.h
class EpochAudit;  // recpack/loader/audit.h

// A batch made by a DeviceFeeder: finished images and the loader's other arrays, in device memory
// (host memory on the host backend). The copy may still be in progress; no call here waits for it.
// Move-only. May be held and destroyed on any thread, also after the feeder.
class DeviceBatch {
 public:
  DeviceBatch();
  DeviceBatch(DeviceBatch&&) noexcept;
  DeviceBatch& operator=(DeviceBatch&&) noexcept;
  // The memory is reused once the streams passed to OnStream() have completed the work enqueued on
  // them so far.
  ~DeviceBatch();

  // Makes work enqueued on `stream` from here on wait for the arrays. Call this for every stream
  // that reads them, before enqueuing the reads; enqueue all reads before the batch is destroyed,
  // and keep the stream until then. Does not block the host. Throws Error (kDevice).
  void OnStream(DeviceStream stream);

  int device() const noexcept { return device_; }  // number of the device; -1: the host
  uint64_t epoch() const noexcept { return epoch_; }
  // In the epoch, counted from where this run began
  uint64_t step() const noexcept { return step_; }
  // Number of samples: the batch size, except in a short last batch (LastBatch::kKeep).
  uint32_t size() const noexcept { return size_; }
  const std::vector<ArraySpec>& arrays() const noexcept { return *arrays_; }

  // Returns the array's size() samples, contiguous. Throws Error (kInvalidArgument) if there is no
  // array of that name.
  template <typename T>
  const T* Data(const std::string& name) const {
    return static_cast<const T*>(Raw(name));
  }
  const void* Raw(const std::string& name) const;
  const void* Raw(size_t array) const noexcept { return data_[array]; }

  // Per sample, in host memory; as in Batch.
  const std::vector<uint64_t>& ids() const noexcept { return ids_; }
  const std::vector<uint8_t>& mask() const noexcept { return mask_; }

  // Resume token for the position after this step on all devices.
  const std::string& token() const noexcept { return token_; }
  // Audit of the epoch up to the end of this step, without counts; save it with the token
  // (LoaderOptions::audit). A batch that only fills up a step has the audit of the step's other
  // batches.
  const std::shared_ptr<const EpochAudit>& audit() const noexcept { return audit_; }

 private:
  friend class DeviceFeeder;
  friend class GainFeeding;
  friend class StepQueues;

  std::unique_ptr<DeviceSlot> slot_;
  std::shared_ptr<const std::vector<ArraySpec>> arrays_;
  std::vector<const void*> data_;  // per array
  std::vector<uint64_t> ids_;
  std::vector<uint8_t> mask_;
  std::string token_;
  std::shared_ptr<const EpochAudit> audit_;
  int device_ = -1;
  uint64_t epoch_ = 0;
  uint64_t step_ = 0;
  uint32_t size_ = 0;
  std::optional<GainPlan::Block> gain_block_;
};

}  // namespace recpack
