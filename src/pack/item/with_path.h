// Gives errors the path of the file that they are about.
#pragma once

#include <string_view>
#include <utility>

#include "recpack/base/error.h"

namespace recpack::pack {

// Returns what `work` returns. An Error that it throws gets `path`.
template <typename Work>
decltype(auto) WithPath(std::string_view path, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const Error& error) {
    Place place = error.place();
    place.path = path;
    throw error.At(std::move(place));
  }
}

}  // namespace recpack::pack
