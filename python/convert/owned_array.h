// NumPy arrays that own their values, or keep their memory alive.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <initializer_list>
#include <memory>
#include <span>
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

// Returns a one-dimensional copy.
template <typename T>
nanobind::object OwnedArray(std::span<const T> values) {
  return OwnedArray(std::vector<T>(values.begin(), values.end()), {values.size()});
}

// Owner for arrays in foreign memory: keeps it alive.
template <typename T>
nanobind::capsule MakeKeeper(const std::shared_ptr<T>& memory) {
  auto held = std::make_unique<std::shared_ptr<T>>(memory);
  return {held.release(),
          [](void* kept) noexcept { delete static_cast<std::shared_ptr<T>*>(kept); }};
}

}  // namespace recpack::python
