// The header of a safetensors file: JSON between its length and the data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/train/checkpoint/safetensors.h"

namespace recpack::train {

// Before the header: its length.
constexpr size_t kHeaderLengthBytes = sizeof(uint64_t);
// Data begin at a multiple of it in files that we write.
constexpr size_t kDataAlignment = 64;
// As in the form's own implementation.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;

// An array of a file.
struct ArrayEntry {
  std::string name;
  ValueType type = ValueType::kF32;
  Shape shape = {};
  uint64_t begin = 0;  // from the start of the data
  uint64_t end = 0;
};

struct SafetensorsHeader {
  ArrayMetadata metadata;
  std::vector<ArrayEntry> arrays;  // in the order of their data
};

// The JSON, with spaces after it so that the data behind it are aligned. Throws Error
// (kInvalidArgument) for names that are not UTF-8.
std::string HeaderText(const SafetensorsHeader& header);

// Checks all that the form demands of a header before `data_bytes` of data. Throws Error: kCorrupt
// or kUnsupported, with `path` and the place in it.
SafetensorsHeader ParseHeader(std::string_view text, uint64_t data_bytes, const std::string& path);

}  // namespace recpack::train
