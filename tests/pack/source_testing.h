// Helpers for tests of sources: make files, read and parse items.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "recpack/base/error.h"
#include "src/pack/item/source.h"

namespace recpack::pack {

// A record as parsed by the tests' own parser.
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

// Reads an item with a new reader.
TestItem ReadItem(const Source& source, size_t split, uint64_t item);

// Names of all items of a split, in order.
std::vector<std::string> ItemNames(const Source& source, size_t split);

// Writes a file and creates its parent folders.
void MakeFile(const std::string& path, std::string_view content);

// Header of an uncompressed gray PNG without pixels, enough for ReadImageHeader().
std::string PngHeader(int width, int height);

// Returns the error that `call` throws, or one of kind kDevice, which no source throws, if none.
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
