#include <chrono>
#include <cstring>
#include <thread>

#include "bench/device/step.h"

namespace recpack::bench {

DeviceStream NewStream(bool) { return nullptr; }

void Work(DeviceStream, bool, double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

void WaitFor(DeviceStream, bool) {}

std::vector<uint8_t> Fetch(const DeviceBatch& batch, size_t array, DeviceStream) {
  const auto* bytes = static_cast<const uint8_t*>(batch.Raw(array));
  return {bytes, bytes + batch.arrays()[array].sample_bytes * batch.size()};
}

double CopyRate(bool, size_t) { return 0; }

}  // namespace recpack::bench
