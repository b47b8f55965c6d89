// Safetensors files in memory.
#pragma once

#include <memory>
#include <string>

#include "recpack/train/safetensors.h"
#include "tests/record/memory_files.h"

namespace recpack {

inline ByteBuffer Written(std::span<const NamedArray> arrays, const ArrayMetadata& metadata = {}) {
  ByteBuffer bytes;
  MemoryWritable file(bytes);
  WriteSafetensors(file, arrays, metadata);
  return bytes;
}

inline LoadedArrays ReadBytes(ByteBuffer bytes) {
  return ReadSafetensors(MemoryReadable(std::move(bytes), "a.safetensors"));
}

// A file of that header, with `data_bytes` bytes behind it.
inline ByteBuffer FileOf(const std::string& header, size_t data_bytes) {
  ByteBuffer bytes(8);
  StoreLittleEndian<uint64_t>(bytes.data(), header.size());
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.resize(bytes.size() + data_bytes, 7);
  return bytes;
}

}  // namespace recpack
