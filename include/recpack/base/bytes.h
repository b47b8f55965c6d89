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

inline ByteView AsBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

inline std::string_view AsText(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Little-endian loads and stores at any alignment. T is an unsigned or signed integer, or a float.
template <typename T>
T LoadLittleEndian(const uint8_t* from) noexcept {
  static_assert(std::endian::native == std::endian::little, "big-endian machines: swap here");
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
void StoreLittleEndian(uint8_t* to, T value) noexcept {
  static_assert(std::endian::native == std::endian::little, "big-endian machines: swap here");
  std::memcpy(to, &value, sizeof value);
}

}  // namespace recpack
