// In-memory files, and shards made of given payloads.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "recpack/base/bytes.h"
#include "recpack/base/file.h"
#include "recpack/record/framing.h"
#include "recpack/record/reader.h"
#include "recpack/record/writer.h"

namespace recpack {

class MemoryReadable final : public ReadableFile {
 public:
  explicit MemoryReadable(ByteBuffer bytes, std::string path = "shard")
      : path_(std::move(path)), bytes_(std::move(bytes)) {}

  size_t ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    if (offset >= bytes_.size()) return 0;
    const size_t count = std::min<uint64_t>(out.size(), bytes_.size() - offset);
    std::copy_n(bytes_.begin() + static_cast<ptrdiff_t>(offset), count, out.begin());
    return count;
  }
  uint64_t Size() const override { return bytes_.size(); }
  const std::string& path() const noexcept override { return path_; }

 private:
  std::string path_;
  ByteBuffer bytes_;
};

// Writes to a buffer that outlives it.
class MemoryWritable final : public WritableFile {
 public:
  explicit MemoryWritable(ByteBuffer& bytes, std::string path = "folder/shard")
      : path_(std::move(path)), bytes_(bytes) {}

  void Write(ByteView bytes) override { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void StartSync() noexcept override { started.push_back(bytes_.size()); }
  void Sync() override { ++syncs; }
  void Close() override {}
  const std::string& path() const noexcept override { return path_; }

  int syncs = 0;
  std::vector<size_t> started;  // file size at each StartSync()

 private:
  std::string path_;
  ByteBuffer& bytes_;
};

struct Shard {
  ByteBuffer bytes;
  ShardEntries entries;
};

inline Shard WriteShard(const std::vector<ByteBuffer>& payloads, WriterOptions options = {}) {
  Shard shard;
  RecordWriter writer(std::make_unique<MemoryWritable>(shard.bytes), options);
  for (const ByteBuffer& payload : payloads) writer.Write(payload);
  writer.Finish(false);
  shard.entries = writer.entries();
  return shard;
}

// Makes `count` distinct, incompressible payloads of `size` bytes each.
inline std::vector<ByteBuffer> MakePayloads(size_t count, size_t size, uint32_t seed = 1) {
  std::vector<ByteBuffer> payloads(count, ByteBuffer(size));
  uint32_t state = seed * 2654435761u + 1;
  for (ByteBuffer& payload : payloads) {
    for (uint8_t& byte : payload) {
      state = state * 1664525u + 1013904223u;
      byte = static_cast<uint8_t>(state >> 24);
    }
  }
  return payloads;
}

struct Seen {
  std::vector<ByteBuffer> payloads;
  std::vector<uint64_t> ordinals;
  std::vector<uint64_t> offsets;
  std::vector<Damage> damages;
  Compression compression = Compression::kNone;
};

// Rethrows the reader's exceptions.
inline Seen ReadAll(ByteBuffer bytes, ReaderOptions options = {}) {
  Seen seen;
  RecordReader reader(std::make_unique<MemoryReadable>(std::move(bytes)), std::move(options));
  for (Record record; reader.Next(record);) {
    seen.payloads.emplace_back(record.payload.begin(), record.payload.end());
    seen.ordinals.push_back(record.ordinal);
    seen.offsets.push_back(record.offset);
  }
  seen.damages = reader.damages();
  seen.compression = reader.compression();
  return seen;
}

}  // namespace recpack
