#include <algorithm>

#include "recpack/base/error.h"
#include "recpack/base/hash.h"
#include "src/base/format.h"
#include "src/train/checkpoint/safetensors.h"
#include "src/train/checkpoint/safetensors_checksum.h"
#include "src/train/checkpoint/safetensors_header.h"

namespace recpack::train {
namespace {

[[noreturn]] void Damaged(const ReadableFile& file, const std::string& reason, uint64_t offset) {
  throw Error(ErrorKind::kCorrupt, reason, {.path = file.path(), .offset = offset},
              "copy or write the file again");
}

void ReadExactly(const ReadableFile& file, uint64_t offset, std::span<uint8_t> out) {
  const size_t got = file.ReadAt(offset, out);
  if (got < out.size())
    Damaged(file, "the file ends here: it was truncated while being read", offset + got);
}

// Reads length and header. Reads no more than the size of the file.
std::string ReadHead(const ReadableFile& file, uint64_t size) {
  if (size < kHeaderLengthBytes)
    Damaged(file, "the file is too short for a safetensors file", size);
  std::string head(kHeaderLengthBytes, '\0');
  const auto bytes = [&] { return reinterpret_cast<uint8_t*>(head.data()); };
  ReadExactly(file, 0, {bytes(), kHeaderLengthBytes});
  const auto length = LoadLittleEndian<uint64_t>(bytes());
  const uint64_t most = std::min(kMaxHeaderBytes, size - kHeaderLengthBytes);
  if (length > most) {
    Damaged(
        file,
        format("the header should have {} bytes, but at most {} are possible here", length, most),
        0);
  }
  head.resize(kHeaderLengthBytes + length);
  ReadExactly(file, kHeaderLengthBytes, {bytes() + kHeaderLengthBytes, length});
  return head;
}

void CheckSum(const ReadableFile& file, std::string head, ByteView data) {
  const auto expected = TakeChecksum(head);
  Sha256 sum;
  sum.Update(AsBytes(head));
  sum.Update(data);
  if (expected && Hex(sum.Finish()) == *expected) return;
  throw Error(ErrorKind::kCorrupt, "the checksum does not match", {.path = file.path()},
              format("copy or write the file again; a program that changes such a file must "
                     "leave {} out of the metadata",
                     kChecksumKey));
}

}  // namespace

const NamedArray* LoadedArrays::Find(const std::string& name) const noexcept {
  for (const auto& array : arrays) {
    if (array.name == name) return &array;
  }
  return nullptr;
}

LoadedArrays ReadSafetensors(const ReadableFile& file) {
  const uint64_t size = file.Size();
  const std::string head = ReadHead(file, size);
  const uint64_t data_bytes = size - head.size();
  SafetensorsHeader header =
      ParseHeader(std::string_view(head).substr(kHeaderLengthBytes), data_bytes, file.path());
  LoadedArrays loaded;
  loaded.data.resize(data_bytes);
  ReadExactly(file, head.size(), loaded.data);
  if (header.metadata.erase(kChecksumKey) > 0) CheckSum(file, head, loaded.data);
  loaded.metadata = std::move(header.metadata);
  for (auto& array : header.arrays) {
    loaded.arrays.push_back({std::move(array.name), array.type, std::move(array.shape),
                             loaded.data.data() + array.begin});
  }
  return loaded;
}

LoadedArrays ReadSafetensors(FileSystem& files, const std::string& path) {
  return ReadSafetensors(*files.OpenForReading(path));
}

}  // namespace recpack::train
