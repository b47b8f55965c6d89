#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>

#include "recpack/record/crc32c.h"
#include "recpack/record/framing.h"
#include "recpack/record/index.h"
#include "src/record/index/index_layout.h"

namespace recpack {
namespace {

template <typename T>
ByteView ToByteView(const T& value) {
  return {reinterpret_cast<const uint8_t*>(&value), sizeof value};
}

template <typename T>
ByteView ToByteView(const std::vector<T>& values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(T)};
}

bool AllEqual(const std::vector<uint32_t>& lengths) {
  return std::ranges::adjacent_find(lengths, std::ranges::not_equal_to()) == lengths.end();
}

std::vector<uint64_t> BlockOffsets(const std::vector<uint32_t>& lengths) {
  std::vector<uint64_t> blocks;
  uint64_t offset = 0;
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (i % kRecordsPerBlock == 0) blocks.push_back(offset);
    offset += lengths[i] + kFrameBytes;
  }
  return blocks;
}

}  // namespace

struct IndexWriter::State {
  std::unique_ptr<WritableFile> file;
  uint64_t at = 0;  // bytes written
  uint64_t records = 0;
  std::deque<IndexShard>
      directory;  // grows without copying, which would need three times the memory

  // Appends bytes at a multiple of 8 and returns their offset.
  uint64_t Append(ByteView bytes) {
    constexpr uint8_t kZeros[8] = {};
    const uint64_t padding = -at % 8;
    file->Write({kZeros, padding});
    file->Write(bytes);
    const uint64_t start = at + padding;
    at = start + bytes.size();
    return start;
  }
};

IndexWriter::IndexWriter(std::unique_ptr<WritableFile> file) : state_(std::make_unique<State>()) {
  state_->file = std::move(file);
  IndexHeader header = {
      .magic = {}, .version = kIndexVersion, .records_per_block = kRecordsPerBlock};
  std::memcpy(header.magic, kIndexMagic, sizeof header.magic);
  state_->Append(ToByteView(header));
}

IndexWriter::~IndexWriter() = default;

void IndexWriter::AddShard(const ShardEntries& entries) {
  State& state = *state_;
  IndexShard shard = {};
  shard.file_bytes = entries.file_bytes;
  shard.records = entries.lengths.size();
  shard.first_record = state.records;
  shard.compression = static_cast<uint32_t>(entries.compression);
  if (AllEqual(entries.lengths)) {
    shard.stride = entries.lengths.empty() ? 0 : entries.lengths.front();
  } else {
    shard.lengths_at = state.Append(ToByteView(entries.lengths));
    shard.blocks_at = state.Append(ToByteView(BlockOffsets(entries.lengths)));
  }
  if (!entries.crcs.empty()) shard.crcs_at = state.Append(ToByteView(entries.crcs));
  if (!entries.flush_points.empty()) {
    static_assert(sizeof(FlushPoint) == 16);
    shard.flush_at = state.Append(ToByteView(entries.flush_points));
    shard.flush_points = entries.flush_points.size();
  }
  shard.name_at = state.Append(AsBytes(entries.name));
  shard.name_bytes = static_cast<uint32_t>(entries.name.size());
  shard.check = entries.check;
  state.records += shard.records;
  state.directory.push_back(shard);
}

void IndexWriter::Finish(bool sync) {
  State& state = *state_;
  IndexFooter footer = {};
  footer.directory_at = state.Append({});
  constexpr size_t kPiece = 512;  // shards written at once
  std::vector<IndexShard> piece;
  for (size_t i = 0; i < state.directory.size(); ++i) {
    piece.push_back(state.directory[i]);
    if (piece.size() < kPiece && i + 1 < state.directory.size()) continue;
    footer.directory_crc = ExtendCrc32c(footer.directory_crc, ToByteView(piece));
    state.Append(ToByteView(piece));  // adds no padding: entries are a multiple of 8 bytes
    piece.clear();
  }
  footer.shards = state.directory.size();
  footer.records = state.records;
  footer.footer_crc = Crc32c(ToByteView(footer).first(offsetof(IndexFooter, footer_crc)));
  std::memcpy(footer.magic, kIndexMagic, sizeof footer.magic);
  state.Append(ToByteView(footer));
  if (sync) state.file->Sync();
  state.file->Close();
}

}  // namespace recpack
