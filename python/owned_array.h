// NumPy arrays that own their values.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace recpack::python {

template <typename T>
nanobind::object OwnedArray(std::vector<T> values, std::initializer_list<size_t> shape) {
  namespace nb = nanobind;
  auto kept = std::make_unique<std::vector<T>>(std::move(values));
  T* const data = kept->data();
  const nb::capsule owner(kept.release(),
                          [](void* held) noexcept { delete static_cast<std::vector<T>*>(held); });
  return nb::cast(nb::ndarray<nb::numpy, T>(data, shape.size(), shape.begin(), owner));
}

}  // namespace recpack::python
