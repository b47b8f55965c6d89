// Options that come as a dictionary.
#pragma once

#include <nanobind/nanobind.h>

namespace recpack::python {

// Takes one out. All have to be there: their defaults are Python's.
template <typename T>
T Take(nanobind::dict& given, const char* name) {
  const nanobind::str key(name);
  T value = nanobind::cast<T>(given[key]);
  PyDict_DelItem(given.ptr(), key.ptr());
  return value;
}

}  // namespace recpack::python
