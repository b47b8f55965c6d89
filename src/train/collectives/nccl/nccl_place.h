// Identifies the GPU of each rank.
#pragma once

#include <array>
#include <span>
#include <string>

namespace recpack::train {

// Identifies a GPU among all machines: by the machine's boot id, which its containers share, and
// the PCI bus id. Zero-padded text.
using GpuPlace = std::array<char, 96>;

// `bus`: PCI bus id from CUDA, of a GPU of this machine.
GpuPlace PlaceOnBus(const std::string& bus);

// Throws Error (kUnsupported) with two ranks that use the same GPU.
void CheckThatPlacesDiffer(std::span<const GpuPlace> by_rank);

}  // namespace recpack::train
