// Where the arrays of a batch come to lie.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "recpack/kernels/finish.h"
#include "recpack/loader/loader.h"

namespace recpack {

// A picture that is finished behind the copy.
struct FinishStep {
  FinishOptions options;
  size_t image = 0;  // arrays of the loader
  size_t geometry = 0;
  size_t image_offset = 0;  // of these in the slab
  size_t geometry_offset = 0;
  size_t offset = 0;     // of the results in a slot
  size_t out_bytes = 0;  // of one result
};

// A slot holds a copy of the slab and, behind it, the results.
struct DeviceLayout {
  // Of a DeviceBatch; `offset`: in the slot.
  std::shared_ptr<const std::vector<ArraySpec>> arrays;
  static constexpr size_t kResult = ~size_t{0};
  std::vector<size_t> sources;  // by array: the loader's array that it is, or kResult
  std::vector<FinishStep> steps;
  size_t slab_bytes = 0;  // that a batch uses
  size_t slot_bytes = 0;
};

DeviceLayout LayOut(const Loader& loader);

}  // namespace recpack
