// What tests of sources share: files to make, and items to look into.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "recpack/base/error.h"
#include "src/pack/item/source.h"

namespace recpack::pack {

// One record, taken apart by a parser of the tests' own.
struct TestItem {
  std::map<std::string, std::vector<std::string>> bytes;
  std::map<std::string, std::vector<int64_t>> ints;
  std::map<std::string, std::vector<float>> floats;
  int64_t label = -1;

  std::vector<std::string> names() const;                  // of all features, sorted
  const std::string& text(const std::string& name) const;  // of a feature with one value
  int64_t number(const std::string& name) const;
};

TestItem ParseTestItem(std::string_view record);

// Reads an item through a new reader.
TestItem ReadItem(const Source& source, size_t split, uint64_t item);

// Names of all items of a split, in order.
std::vector<std::string> ItemNames(const Source& source, size_t split);

// Writes a file, with the folders above it.
void MakeFile(const std::string& path, std::string_view content);

// The header and size of an uncompressed gray PNG without its pixels: enough for ReadImageHeader.
std::string PngHeader(int width, int height);

// The error that `call` throws; of kind kDevice, which no source throws, if it throws none.
template <typename Call>
Error ErrorOf(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorKind::kDevice, "nothing was thrown");
}

}  // namespace recpack::pack
