// Named arrays in files of the safetensors form (docs/format/checkpoint.md).
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "recpack/base/file.h"
#include "src/train/ops/tensor.h"

namespace recpack::train {

// An array in host memory: its elements lie dense, the outermost dimension first. Does not own
// them.
struct NamedArray {
  std::string name;
  ValueType type = ValueType::kF32;
  Shape shape = {};
  const void* data = nullptr;

  size_t bytes() const noexcept { return static_cast<size_t>(Elements(shape)) * ValueBytes(type); }
};

// What else a file says: texts by name.
using ArrayMetadata = std::map<std::string, std::string>;

// What a file held. `arrays` point into `data`, so it moves but is not copied.
struct LoadedArrays {
  ArrayMetadata metadata;
  std::vector<NamedArray> arrays;  // in the order of their data
  ByteBuffer data;

  LoadedArrays() = default;
  LoadedArrays(LoadedArrays&&) noexcept = default;
  LoadedArrays& operator=(LoadedArrays&&) noexcept = default;

  // Null where there is none of that name.
  const NamedArray* Find(const std::string& name) const noexcept;
};

// Writes the whole file, from its start; neither syncs nor closes it. Arrays lie by the size of
// their elements, the largest first, else as they are given, so that each begins at a multiple of
// that size; equal arguments give equal bytes. To the metadata a checksum of the file is added.
// Throws Error: kInvalidArgument (two arrays of one name, a negative size, names that are not
// UTF-8), kIo.
void WriteSafetensors(WritableFile& file, std::span<const NamedArray> arrays,
                      const ArrayMetadata& metadata = {});

// The same as a file that is there whole or not at all. `durable`: when this returns, it would
// survive a power cut.
void WriteSafetensors(FileSystem& files, const std::string& path,
                      std::span<const NamedArray> arrays, const ArrayMetadata& metadata = {},
                      bool durable = true);

// Reads a file and checks all that its form demands and, where it has one, its checksum, which the
// metadata given back no longer hold. In files of other programs arrays may begin at any byte.
// Throws Error: kCorrupt, kUnsupported (element types that no ValueType is), kNotFound, kIo.
LoadedArrays ReadSafetensors(const ReadableFile& file);
LoadedArrays ReadSafetensors(FileSystem& files, const std::string& path);

}  // namespace recpack::train
