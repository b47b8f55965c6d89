// Header of a safetensors file: the JSON between its length and the data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/train/checkpoint/safetensors.h"

namespace recpack::train {

// Size of the length before the header.
constexpr size_t kHeaderLengthBytes = sizeof(uint64_t);
// Alignment of the data in files that we write.
constexpr size_t kDataAlignment = 64;
// The same limit as in the reference implementation.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;

// An array in a file.
struct ArrayEntry {
  std::string name;
  ElementType type = ElementType::kF32;
  Shape shape = {};
  uint64_t begin = 0;  // offset from the start of the data
  uint64_t end = 0;
};

struct SafetensorsHeader {
  ArrayMetadata metadata;
  std::vector<ArrayEntry> arrays;  // in the order of their data
};

// Serialises the header, padded with spaces so that the data is aligned. Throws Error
// (kInvalidArgument) for names that are not UTF-8.
std::string HeaderText(const SafetensorsHeader& header);

// Checks all requirements of the format for a header followed by `data_bytes` of data. Throws
// Error: kCorrupt or kUnsupported, with `path` and the offset.
SafetensorsHeader ParseHeader(std::string_view text, uint64_t data_bytes, const std::string& path);

}  // namespace recpack::train
