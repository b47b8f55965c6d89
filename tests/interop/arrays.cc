// Safetensors files by this library, for the form's own package to read and write beside it.
//
//   arrays write FILE     one array of each type, an empty one and one without dimensions
//   arrays list FILE      a line for each metadata text (KEY VALUE) and, after a `--`, one for each
//                         array: NAME TYPE SHAPE and its bytes in hexadecimal
#include <cstdio>
#include <cstring>
#include <numeric>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/base/hash.h"
#include "src/train/checkpoint/safetensors.h"

namespace recpack {
namespace {

// Byte i of each array is i, so that another program knows what to expect.
void Write(const std::string& path) {
  std::vector<uint8_t> bytes(256);
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  std::vector<train::NamedArray> arrays;
  for (const ElementType type :
       {ElementType::kU8, ElementType::kI32, ElementType::kI64, ElementType::kF16,
        ElementType::kBf16, ElementType::kF32, ElementType::kU64}) {
    arrays.push_back({ElementName(type), type, {3, 1, 5}, bytes.data()});
  }
  arrays.push_back({"scalar", ElementType::kF32, {}, bytes.data()});
  arrays.push_back({"empty", ElementType::kF32, {2, 0}, nullptr});
  arrays.push_back({"\"größe\"", ElementType::kU8, {2}, bytes.data()});
  train::WriteSafetensors(PosixFiles(), path, arrays, {{"model", "\"größe\"\t"}, {"empty", ""}},
                          false);
}

void List(const std::string& path) {
  const train::LoadedArrays loaded = train::ReadSafetensors(PosixFiles(), path);
  for (const auto& [key, value] : loaded.metadata) {
    std::printf("%s %s\n", key.c_str(), value.c_str());
  }
  std::printf("--\n");
  for (const auto& array : loaded.arrays) {
    const std::string hex = Hex({static_cast<const uint8_t*>(array.data), array.bytes()});
    std::printf("%s %s %s %s\n", array.name.c_str(), ElementName(array.type),
                array.shape.empty() ? "-" : train::ShapeText(array.shape).c_str(), hex.c_str());
  }
}

int Run(const std::string& how, const std::string& path) {
  if (how == "write") {
    Write(path);
  } else if (how == "list") {
    List(path);
  } else {
    std::fprintf(stderr, "arrays: no such command: %s\n", how.c_str());
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace recpack

int main(int count, char** words) {
  if (count != 3) {
    std::fprintf(stderr, "usage: arrays write|list FILE\n");
    return 2;
  }
  try {
    return recpack::Run(words[1], words[2]);
  } catch (const recpack::Error& error) {
    std::fprintf(stderr, "arrays: %s\n", error.what());
    return 1;
  }
}
