#include <algorithm>
#include <set>

#include "recpack/base/error.h"
#include "recpack/base/hash.h"
#include "src/base/format.h"
#include "src/train/checkpoint/safetensors.h"
#include "src/train/checkpoint/safetensors_checksum.h"
#include "src/train/checkpoint/safetensors_header.h"

namespace recpack::train {
namespace {

void Check(const NamedArray& array) {
  const auto refuse = [&](const std::string& reason) {
    throw Error(ErrorKind::kInvalidArgument, format("array '{}' {}", array.name, reason));
  };
  for (const int64_t size : array.shape) {
    if (size < 0) refuse("has the shape " + ShapeText(array.shape));
  }
  if (array.data == nullptr && array.bytes() > 0) refuse("has no data");
}

void RefuseEqualNames(std::span<const NamedArray> arrays) {
  std::set<std::string> names = {"__metadata__"};
  for (const auto& array : arrays) {
    if (names.insert(array.name).second) continue;
    throw Error(ErrorKind::kInvalidArgument, format("two arrays are named '{}'", array.name), {},
                "give each a name of its own; __metadata__ is taken");
  }
}

// Arrays in the order of the file.
std::vector<const NamedArray*> Ordered(std::span<const NamedArray> arrays) {
  std::vector<const NamedArray*> ordered;
  for (const auto& array : arrays) ordered.push_back(&array);
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto* a, const auto* b) {
    return ElementBytes(a->type) > ElementBytes(b->type);
  });
  return ordered;
}

ByteView ArrayBytes(const NamedArray& array) {
  return {static_cast<const uint8_t*>(array.data), array.bytes()};
}

}  // namespace

void WriteSafetensors(WritableFile& file, std::span<const NamedArray> arrays,
                      const ArrayMetadata& metadata) {
  RefuseEqualNames(arrays);
  for (const auto& array : arrays) Check(array);
  const auto ordered = Ordered(arrays);

  SafetensorsHeader header{.metadata = metadata};
  header.metadata[kChecksumKey] = kNoChecksum;
  uint64_t end = 0;
  for (const auto* array : ordered) {
    const uint64_t begin = end;
    end += array->bytes();
    header.arrays.push_back({array->name, array->type, array->shape, begin, end});
  }

  std::string head(kHeaderLengthBytes, '\0');
  head += HeaderText(header);
  StoreLittleEndian<uint64_t>(reinterpret_cast<uint8_t*>(head.data()),
                              head.size() - kHeaderLengthBytes);
  Sha256 sum;
  sum.Update(AsBytes(head));
  for (const auto* array : ordered) sum.Update(ArrayBytes(*array));
  SetChecksum(head, Hex(sum.Finish()));

  file.Write(AsBytes(head));
  for (const auto* array : ordered) file.Write(ArrayBytes(*array));
}

void WriteSafetensors(FileSystem& files, const std::string& path,
                      std::span<const NamedArray> arrays, const ArrayMetadata& metadata,
                      bool durable) {
  WritePiecesAtomically(
      files, path, [&](WritableFile& file) { WriteSafetensors(file, arrays, metadata); }, durable);
}

}  // namespace recpack::train
