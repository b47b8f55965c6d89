// A small data set, fed to fake devices.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "recpack/device/feeder.h"
#include "recpack/device/slabs.h"
#include "src/device/handles.h"
#include "tests/device/fake_runtime.h"
#include "tests/pipeline/small_split.h"

namespace recpack {

inline LoaderOptions SmallOptions() {
  LoaderOptions options{.fields = SmallFields(), .batch_size = 8, .seed = 5, .threads = 2};
  options.prefetch = 2;
  return options;
}

// What a consumer saw of a batch.
struct Seen {
  std::vector<uint8_t> bytes;  // of all arrays
  std::vector<uint64_t> ids;
  std::vector<uint8_t> mask;
  std::string token;

  bool operator==(const Seen&) const = default;
};

// Reads batches on streams of its own, one a device, as a trainer does: it waits for nothing before
// the end.
class Consumer {
 public:
  Consumer(DeviceFeeder& feeder, FakeRuntime& fake) : feeder_(feeder), fake_(fake) {
    for (size_t i = 0; i < feeder.devices(); ++i) {
      handles_.push_back(std::make_unique<StreamHandle>(fake, static_cast<int>(i)));
      streams_.push_back(handles_.back()->get());
    }
  }

  // False at the end of an epoch.
  bool Take(size_t device) {
    auto batch = feeder_.Next(device);
    if (batch) Read(*batch, device);
    return batch.has_value();
  }

  void Read(DeviceBatch& batch, size_t device) {
    batch.OnStream(streams_[device]);
    Reads reads{{}, {{}, batch.ids(), batch.mask(), batch.token()}};
    for (size_t i = 0; i < batch.arrays().size() && batch.size() > 0; ++i) {
      reads.arrays.push_back(fake_.Read(static_cast<int>(device), batch.Raw(i),
                                        batch.arrays()[i].sample_bytes * batch.size(),
                                        streams_[device]));
    }
    reads_.push_back(std::move(reads));
  }

  // In the order of Take().
  std::vector<Seen> Seens() {
    for (size_t i = 0; i < streams_.size(); ++i) fake_.Drain(static_cast<int>(i), streams_[i]);
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
  DeviceFeeder& feeder_;
  FakeRuntime& fake_;
  std::vector<std::unique_ptr<StreamHandle>> handles_;
  std::vector<DeviceStream> streams_;
  std::vector<Reads> reads_;
};

// What the loader gives itself, all of it finished on the host.
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
