// Safetensors files in memory.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "src/train/checkpoint/safetensors.h"
#include "tests/record/memory_files.h"

namespace recpack::train {

inline ByteBuffer Written(std::span<const NamedArray> arrays, const ArrayMetadata& metadata = {}) {
  ByteBuffer bytes;
  MemoryWritable file(bytes);
  WriteSafetensors(file, arrays, metadata);
  return bytes;
}

inline LoadedArrays ReadBytes(ByteBuffer bytes) {
  return ReadSafetensors(MemoryReadable(std::move(bytes), "a.safetensors"));
}

// A file with that header, followed by `data_bytes` bytes.
inline ByteBuffer FileOf(const std::string& header, size_t data_bytes) {
  constexpr size_t kLengthBytes = 8;
  ByteBuffer bytes(kLengthBytes + header.size() + data_bytes, 7);
  StoreLittleEndian<uint64_t>(bytes.data(), header.size());
  std::copy(header.begin(), header.end(), bytes.begin() + kLengthBytes);
  return bytes;
}

}  // namespace recpack::train
