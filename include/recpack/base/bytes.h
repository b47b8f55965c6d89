// Byte views and little-endian loads and stores.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace recpack {

using ByteView = std::span<const uint8_t>;  // not owned
using ByteBuffer = std::vector<uint8_t>;

// Views the same memory as bytes, or as text. Nothing is copied or checked: the text may contain
// any bytes, zeros included.
inline ByteView AsBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

inline std::string_view AsText(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Reads sizeof(T) little-endian bytes at any alignment. T is an unsigned or signed integer, or a
// float.
template <typename T>
T LoadLittleEndian(const uint8_t* from) noexcept {
  static_assert(std::endian::native == std::endian::little, "big-endian machines: swap here");
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Writes `value` as sizeof(T) little-endian bytes at any alignment.
template <typename T>
void StoreLittleEndian(uint8_t* to, T value) noexcept {
  static_assert(std::endian::native == std::endian::little, "big-endian machines: swap here");
  std::memcpy(to, &value, sizeof value);
}

}  // namespace recpack
