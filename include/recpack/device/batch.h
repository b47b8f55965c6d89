// A batch on a device.
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

// What a DeviceFeeder gives: finished pictures and the loader's other arrays, in memory of a device
// (of the host, on the host backend). It may still be on its way: no call here waits for it.
// Move-only; any thread may hold or destroy it, also after its feeder.
class DeviceBatch {
 public:
  DeviceBatch();
  DeviceBatch(DeviceBatch&&) noexcept;
  DeviceBatch& operator=(DeviceBatch&&) noexcept;
  // Its memory is used again once the streams of OnStream() have done what was enqueued on them up
  // to here.
  ~DeviceBatch();

  // What is enqueued on `stream` from here on sees the arrays. Every stream that reads them is
  // named here first, stays until the batch is destroyed, and gets all that reads them before that.
  // The host does not wait. Throws Error (kDevice).
  void OnStream(DeviceStream stream);

  int device() const noexcept { return device_; }  // its number; -1: the host
  uint64_t epoch() const noexcept { return epoch_; }
  uint64_t step() const noexcept { return step_; }  // in the epoch, from where this run began
  // Samples there are: the batch size but in a last batch that is kept short.
  uint32_t size() const noexcept { return size_; }
  const std::vector<ArraySpec>& arrays() const noexcept { return *arrays_; }

  // size() samples of the array, one behind the other. Throws Error (kInvalidArgument) for a name
  // that is not there.
  template <typename T>
  const T* Data(const std::string& name) const {
    return static_cast<const T*>(Raw(name));
  }
  const void* Raw(const std::string& name) const;
  const void* Raw(size_t array) const noexcept { return data_[array]; }

  // On the host, by sample, as Batch has them.
  const std::vector<uint64_t>& ids() const noexcept { return ids_; }
  const std::vector<uint8_t>& mask() const noexcept { return mask_; }

  // Where the consumer stands once this step was taken on all devices.
  const std::string& token() const noexcept { return token_; }
  // What the feeder's loader has delivered of the epoch up to the end of this step, without counts:
  // to be kept with the token (LoaderOptions::audit). Of a batch that stands for none it is that of
  // the step's others.
  const std::shared_ptr<const EpochAudit>& audit() const noexcept { return audit_; }

 private:
  friend class DeviceFeeder;

  std::unique_ptr<DeviceSlot> slot_;
  std::shared_ptr<const std::vector<ArraySpec>> arrays_;
  std::vector<const void*> data_;  // by array
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
