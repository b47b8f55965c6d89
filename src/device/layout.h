// Memory layout of a batch on a device.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "recpack/kernels/finish.h"
#include "recpack/loader/loader.h"

namespace recpack {

// Finishing of one image array after the copy.
struct FinishStep {
  FinishOptions options;
  size_t image = 0;  // index of the loader's array
  size_t geometry = 0;
  size_t image_offset = 0;  // of the arrays in the slab
  size_t geometry_offset = 0;
  size_t offset = 0;     // of the results in a slot
  size_t out_bytes = 0;  // per result
};

// A slot holds a copy of the slab, followed by the results.
struct DeviceLayout {
  // Arrays of a DeviceBatch; `offset` is in the slot.
  std::shared_ptr<const std::vector<ArraySpec>> arrays;
  static constexpr size_t kResult = ~size_t{0};
  std::vector<size_t> sources;  // per array: index of the loader's array, or kResult
  std::vector<FinishStep> steps;
  size_t slab_bytes = 0;  // used by a batch
  size_t slot_bytes = 0;
};

DeviceLayout LayOut(const Loader& loader);

}  // namespace recpack
