// Array types as named by DLPack, and so by NumPy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

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

// Returns an array's name, type and shape of a sample for Python.
using ArrayTuple = std::tuple<std::string, std::string, std::vector<uint32_t>>;

}  // namespace recpack::python
