// Options passed as a dictionary.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <type_traits>

#include "python/convert/text.h"

namespace recpack::python {

// Removes and returns an option. All options must be present; Python sets defaults. Throws
// TypeError if the value has another type or is out of range.
template <typename T>
T Take(nanobind::dict& given, const char* name) {
  const nanobind::str key(name);
  const nanobind::object from = given[key];
  T value{};
  bool taken = false;
  if constexpr (std::is_same_v<T, std::string>) {
    if (PyUnicode_Check(from.ptr())) {
      value = NameFrom(from);
      taken = true;
    }
  }
  if (!taken && !nanobind::try_cast(from, value)) {
    PyErr_Clear();
    const std::string what = std::string(name) + " cannot be " + nanobind::repr(from).c_str();
    throw nanobind::type_error(what.c_str());
  }
  PyDict_DelItem(given.ptr(), key.ptr());
  return value;
}

}  // namespace recpack::python
