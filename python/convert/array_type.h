// Array types as named by DLPack, and so by NumPy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "python/convert/choice.h"
#include "recpack/loader/array_spec.h"

namespace recpack::python {

inline nanobind::dlpack::dtype ToDlpackType(ElementType type) {
  namespace nb = nanobind;
  switch (type) {
    case ElementType::kU8:
      return nb::dtype<uint8_t>();
    case ElementType::kI32:
      return nb::dtype<int32_t>();
    case ElementType::kI64:
      return nb::dtype<int64_t>();
    case ElementType::kU64:
      return nb::dtype<uint64_t>();
    case ElementType::kF32:
      return nb::dtype<float>();
    case ElementType::kF16:
      return {static_cast<uint8_t>(nb::dlpack::dtype_code::Float), 16, 1};
    case ElementType::kBf16:
      return {static_cast<uint8_t>(nb::dlpack::dtype_code::Bfloat), 16, 1};
  }
  return {};
}

constexpr Words<ArrayRows, 3> kRows = {{{"samples", ArrayRows::kSamples},
                                        {"ragged", ArrayRows::kRagged},
                                        {"offsets", ArrayRows::kOffsets}}};

// An array's name, type, shape of a sample, and kind of rows, for Python.
using ArrayTuple = std::tuple<std::string, std::string, std::vector<uint32_t>, std::string>;

// Returns the shape of an array with so many rows.
template <typename Extent>
std::vector<Extent> ShapeOf(const ArraySpec& spec, size_t rows) {
  std::vector<Extent> shape = {static_cast<Extent>(rows)};
  // The first dimension of a ragged array is that of its rows.
  const ptrdiff_t first = spec.rows == ArrayRows::kRagged ? 1 : 0;
  shape.insert(shape.end(), spec.shape.begin() + first, spec.shape.end());
  return shape;
}

}  // namespace recpack::python
