// Which GPU each rank uses.
#pragma once

#include <array>
#include <span>
#include <string>

namespace recpack::train {

// Names one GPU among all machines: the machine's boot, which containers on it share, and the bus.
// Text, filled up with zeros.
using GpuPlace = std::array<char, 96>;

// `bus`: as CUDA names it, of a GPU of this machine.
GpuPlace PlaceOnBus(const std::string& bus);

// Throws Error (kUnsupported) that names two ranks of one GPU.
void CheckThatPlacesDiffer(std::span<const GpuPlace> by_rank);

}  // namespace recpack::train
