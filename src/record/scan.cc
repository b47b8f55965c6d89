#include <filesystem>

#include "recpack/record/framing.h"
#include "recpack/record/index.h"
#include "recpack/record/reader.h"
#include "src/base/format.h"

namespace recpack {

ShardEntries ScanShard(FileSystem& files, const std::string& path, bool verify) {
  auto file = files.OpenForReading(path);
  ShardEntries entries;
  entries.name = std::filesystem::path(path).filename();
  entries.file_bytes = file->Size();
  RecordReader reader(std::move(file), {.verify = verify});
  entries.compression = reader.compression();
  for (Record record; reader.Next(record);) {
    entries.lengths.push_back(static_cast<uint32_t>(record.payload.size()));
  }
  return entries;
}

std::string DaliIndexText(const ShardEntries& entries) {
  std::string text;
  uint64_t offset = 0;
  for (const uint32_t length : entries.lengths) {
    const uint64_t size = length + kFrameBytes;
    text += format("{} {}\n", offset, size);
    offset += size;
  }
  return text;
}

}  // namespace recpack
