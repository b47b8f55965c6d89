// Fuzzes record framing: reads shards up to the first damage, and past all damage, with and without
// entries.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/record/framing.h"
#include "recpack/record/reader.h"

namespace {

using recpack::ReaderOptions;

class ViewFile final : public recpack::ReadableFile {
 public:
  explicit ViewFile(recpack::ByteView bytes) : bytes_(bytes) {}
  size_t ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    if (offset >= bytes_.size()) return 0;
    const auto part = bytes_.subspan(offset, std::min(out.size(), bytes_.size() - offset));
    std::ranges::copy(part, out.begin());
    return part.size();
  }
  uint64_t Size() const override { return bytes_.size(); }
  const std::string& path() const noexcept override { return path_; }

 private:
  recpack::ByteView bytes_;
  std::string path_ = "shard";
};

// Returns the records read. Records must have valid CRCs, and damages must advance.
void Read(recpack::ByteView bytes, ReaderOptions options) {
  const bool verify = options.verify;
  recpack::RecordReader reader(std::make_unique<ViewFile>(bytes), std::move(options));
  uint64_t next = 0;
  try {
    for (recpack::Record record; reader.Next(record);) {
      if (verify && !recpack::FramePayloadHolds(record.payload)) __builtin_trap();
      if (record.ordinal < next) __builtin_trap();
      next = record.ordinal + 1;
    }
  } catch (const recpack::Error&) {
  }
  for (const auto& damage : reader.damages()) {
    if (damage.end < damage.offset) __builtin_trap();
  }
}

// Fuzzers rarely produce valid CRCs: bytes 0xa5 mark places to insert them.
void MendFrames(recpack::ByteBuffer& bytes) {
  for (size_t at = 0; at + recpack::kFrameHeaderBytes <= bytes.size();) {
    if (bytes[at + 8] != 0xa5) {
      ++at;
      continue;
    }
    const uint64_t length = bytes[at];
    recpack::StoreFrameHeader(bytes.data() + at, length);
    at += recpack::kFrameHeaderBytes;
    if (at + length + recpack::kFrameFooterBytes > bytes.size()) return;
    recpack::StoreFrameFooter(bytes.data() + at + length,
                              recpack::ByteView(bytes).subspan(at, length));
    at += length + recpack::kFrameFooterBytes;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint8_t choice = data[0];
  recpack::ByteBuffer bytes(data + 1, data + size);
  if ((choice & 1) != 0) MendFrames(bytes);
  auto entries = std::make_shared<recpack::ShardEntries>();
  entries->compression = static_cast<recpack::Compression>((choice >> 1) % 3);
  for (size_t i = 0; i < bytes.size() % 7; ++i) {
    entries->lengths.push_back(bytes[i]);
    entries->flush_points.push_back({.file_offset = bytes[i] * i, .first_record = i});
  }
  constexpr auto kGoOn = ReaderOptions::OnDamage::kResynchronise;
  Read(bytes, {.buffer_bytes = 1});
  Read(bytes, {.verify = false, .on_damage = kGoOn});
  Read(bytes, {.buffer_bytes = 1, .on_damage = kGoOn});
  Read(bytes, {.on_damage = kGoOn, .entries = entries});
  return 0;
}
