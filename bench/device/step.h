// A training step on a batch, for the bench of the feeder: linked for CUDA or for the host.
#pragma once

#include <cstdint>
#include <vector>

#include "recpack/device/batch.h"

namespace recpack::bench {

// A stream of device 0; null on the host.
DeviceStream NewStream(bool on_device);

// Keeps the stream busy for so long, without the host.
void Work(DeviceStream stream, bool on_device, double seconds);

// The host waits for all of the stream.
void WaitFor(DeviceStream stream, bool on_device);

// The array's bytes, once the stream has come to them.
std::vector<uint8_t> Fetch(const DeviceBatch& batch, size_t array, DeviceStream stream);

// Bytes a second of a copy from pinned memory; 0 on the host.
double CopyRate(bool on_device, size_t bytes);

}  // namespace recpack::bench
