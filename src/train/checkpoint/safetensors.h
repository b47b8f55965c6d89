// Reads and writes named arrays in safetensors files (docs/format/checkpoint.md).
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "recpack/base/file.h"
#include "src/train/ops/tensor.h"

namespace recpack::train {

// A dense, row-major array in host memory. Does not own its data.
struct NamedArray {
  std::string name;
  ElementType type = ElementType::kF32;
  Shape shape = {};
  const void* data = nullptr;

  size_t bytes() const noexcept {
    return static_cast<size_t>(Elements(shape)) * ElementBytes(type);
  }
};

// Key-value text of a file.
using ArrayMetadata = std::map<std::string, std::string>;

// Contents of a file. `arrays` point into `data`, hence move-only.
struct LoadedArrays {
  ArrayMetadata metadata;
  std::vector<NamedArray> arrays;  // in the order of their data
  ByteBuffer data;

  LoadedArrays() = default;
  LoadedArrays(LoadedArrays&&) noexcept = default;
  LoadedArrays& operator=(LoadedArrays&&) noexcept = default;

  // Returns null if there is no such array.
  const NamedArray* Find(const std::string& name) const noexcept;
};

// Writes the whole file from its start, without sync or close. Arrays are ordered by element size,
// largest first, then as given, so that each is aligned to its element size. Equal arguments give
// equal bytes. Adds a checksum of the file to the metadata. Throws Error: kInvalidArgument
// (duplicate names, a negative size, names that are not UTF-8), kIo.
void WriteSafetensors(WritableFile& file, std::span<const NamedArray> arrays,
                      const ArrayMetadata& metadata = {});

// The same, atomically. `durable`: the file survives a power failure once this returns.
void WriteSafetensors(FileSystem& files, const std::string& path,
                      std::span<const NamedArray> arrays, const ArrayMetadata& metadata = {},
                      bool durable = true);

// Reads a file and checks everything that the format requires, and its checksum if it has one; the
// returned metadata does not include the checksum. Files of other programs may have unaligned
// arrays. Throws Error: kCorrupt, kUnsupported (an element type without a ElementType), kNotFound,
// kIo.
LoadedArrays ReadSafetensors(const ReadableFile& file);
LoadedArrays ReadSafetensors(FileSystem& files, const std::string& path);

}  // namespace recpack::train
