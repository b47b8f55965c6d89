// Helpers that feed a small data set to fake devices.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "recpack/device/feeder.h"
#include "recpack/device/slabs.h"
#include "src/device/handles.h"
#include "tests/device/fake_runtime.h"
#include "tests/loader/small_split.h"

namespace recpack {

inline LoaderOptions SmallOptions() {
  LoaderOptions options{.fields = SmallFields(), .batch_size = 8, .seed = 5, .threads = 2};
  options.prefetch = 2;
  return options;
}

// A batch as read by a consumer.
struct Seen {
  std::vector<uint8_t> bytes;  // of all arrays
  std::vector<uint64_t> ids;
  std::vector<uint8_t> mask;
  std::string token;

  bool operator==(const Seen&) const = default;
};

// Reads batches on streams of its own, one per consumer, like a trainer: does not wait before the
// end.
class Consumer {
 public:
  // `devices`: as in the feeder's options; empty: consumer i uses device i.
  Consumer(DeviceFeeder& feeder, FakeRuntime& fake, std::vector<int> devices = {})
      : feeder_(feeder), fake_(fake), devices_(std::move(devices)) {
    for (size_t i = 0; i < feeder.devices(); ++i) {
      if (devices_.size() == i) devices_.push_back(static_cast<int>(i));
      handles_.push_back(OnHost(i) ? nullptr : std::make_unique<StreamHandle>(fake, devices_[i]));
      streams_.push_back(OnHost(i) ? nullptr : handles_.back()->get());
    }
  }

  // Returns false at the end of an epoch.
  bool Take(size_t consumer) {
    auto batch = feeder_.Next(consumer);
    if (batch) Read(*batch, consumer);
    return batch.has_value();
  }

  void Read(DeviceBatch& batch, size_t consumer) {
    batch.OnStream(streams_[consumer]);
    Reads reads{{}, {{}, batch.ids(), batch.mask(), batch.token()}};
    for (size_t i = 0; i < batch.arrays().size() && batch.size() > 0; ++i) {
      const size_t bytes = batch.arrays()[i].sample_bytes * batch.size();
      const auto* from = static_cast<const uint8_t*>(batch.Raw(i));
      reads.arrays.push_back(OnHost(consumer)
                                 ? std::make_shared<std::vector<uint8_t>>(from, from + bytes)
                                 : fake_.Read(devices_[consumer], from, bytes, streams_[consumer]));
    }
    reads_.push_back(std::move(reads));
  }

  // In the order of Take().
  std::vector<Seen> Seens() {
    for (size_t i = 0; i < streams_.size(); ++i) {
      if (!OnHost(i)) fake_.Drain(devices_[i], streams_[i]);
    }
    std::vector<Seen> seen;
    for (Reads& reads : reads_) {
      seen.push_back(reads.seen);
      for (const auto& array : reads.arrays) {
        seen.back().bytes.insert(seen.back().bytes.end(), array->begin(), array->end());
      }
    }
    return seen;
  }

 private:
  struct Reads {
    std::vector<std::shared_ptr<std::vector<uint8_t>>> arrays;
    Seen seen;
  };
  bool OnHost(size_t consumer) const { return devices_[consumer] == kHostConsumer; }

  DeviceFeeder& feeder_;
  FakeRuntime& fake_;
  std::vector<int> devices_;
  std::vector<std::unique_ptr<StreamHandle>> handles_;
  std::vector<DeviceStream> streams_;
  std::vector<Reads> reads_;
};

// Batches of the loader itself, finished on the host.
inline std::vector<Seen> FromLoader(const Dataset& dataset, const LoaderOptions& options,
                                    size_t batches) {
  Loader loader(dataset, options);
  std::vector<Seen> seen;
  while (seen.size() < batches) {
    const auto batch = loader.Next();
    if (!batch) continue;
    const auto size = static_cast<ptrdiff_t>(batch->size());
    Seen one{{},
             {batch->ids().begin(), batch->ids().begin() + size},
             {batch->mask().begin(), batch->mask().begin() + size},
             batch->token()};
    for (size_t i = 0; i < batch->arrays().size(); ++i) {
      const auto* bytes = static_cast<const uint8_t*>(batch->Raw(i));
      one.bytes.insert(one.bytes.end(), bytes,
                       bytes + batch->arrays()[i].sample_bytes * batch->size());
    }
    seen.push_back(std::move(one));
  }
  return seen;
}

}  // namespace recpack
