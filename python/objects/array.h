// Array of a batch held by Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <vector>

#include "python/convert/array_type.h"
#include "python/convert/owned_array.h"
#include "recpack/loader/batch.h"

namespace recpack::python {

// Keeps the batch's memory alive.
struct HeldArray {
  std::shared_ptr<const Batch> batch;
  const ArraySpec* spec = nullptr;  // of the batch

  // Returns (samples, ...), or (rows, ...) of a ragged array.
  template <typename Extent>
  std::vector<Extent> shape() const {
    const auto index = static_cast<size_t>(spec - batch->arrays().data());
    return ShapeOf<Extent>(*spec, batch->Rows(index));
  }
};

// Returns an array over the batch's memory. Its references must be dropped with the GIL.
template <typename Framework>
nanobind::object MakeArray(const HeldArray& held) {
  namespace nb = nanobind;
  const auto shape = held.shape<size_t>();
  return nb::cast(nb::ndarray<Framework>(const_cast<void*>(held.batch->Raw(held.spec->name)),
                                         shape.size(), shape.data(), MakeKeeper(held.batch),
                                         nullptr, ToDlpackType(held.spec->type)));
}

}  // namespace recpack::python
