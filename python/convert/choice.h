// Maps between enumeration values and words.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/text.h"

namespace recpack::python {

template <typename T, size_t N>
using Words = std::array<std::pair<std::string_view, T>, N>;

template <typename T, size_t N>
std::string ToWord(const Words<T, N>& words, T value) {
  const auto found = std::ranges::find(words, value, &Words<T, N>::value_type::second);
  return std::string(found->first);
}

// Throws Error (kInvalidArgument) that lists the valid words.
template <typename T, size_t N>
T ParseWord(const Words<T, N>& words, std::string_view word, const std::string& of) {
  const auto found = std::ranges::find(words, word, &Words<T, N>::value_type::first);
  if (found != words.end()) return found->second;
  throw Error(ErrorKind::kInvalidArgument, "there is no " + of + " '" + std::string(word) + "'", {},
              "choose one of " + JoinNames(words, &Words<T, N>::value_type::first));
}

}  // namespace recpack::python
