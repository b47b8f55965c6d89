// Names the kinds of links between GPUs of one machine.
#pragma once

#include <cstdint>

namespace recpack::train {

// From the slowest to the fastest.
enum class GpuLink : uint8_t {
  kNone,    // through the host's memory
  kPcie,    // peer access over PCI Express
  kNvlink,  // peer access over NVLink
  kSame,    // they are one GPU
};

}  // namespace recpack::train
