#include "src/record/flush_points.h"

#include <zlib.h>

#include <algorithm>
#include <new>

#include "recpack/record/framing.h"

namespace recpack {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 18;

// RFC 1952 and RFC 1950, without optional parts.
constexpr size_t kGzipHeaderBytes = 10;
constexpr size_t kGzipTrailerBytes = 8;
constexpr size_t kZlibHeaderBytes = 2;
constexpr size_t kZlibTrailerBytes = 4;

// Goes from deflate block to deflate block, and forgets its window at each flush point.
class BlockWalk {
 public:
  BlockWalk(const ReadableFile& file, uint64_t offset, std::span<const uint32_t> lengths)
      : file_(file), read_to_(offset), lengths_(lengths), input_(kBufferBytes) {
    if (inflateInit2(&stream_, -15) != Z_OK) throw std::bad_alloc();
    points_.push_back({.file_offset = offset, .first_record = 0});
  }
  ~BlockWalk() { inflateEnd(&stream_); }
  BlockWalk(const BlockWalk&) = delete;

  // False where the stream does not inflate in this way up to the end of the last record.
  bool Run() {
    for (;;) {
      const uint64_t block_start = produced_;
      switch (InflateBlock()) {
        case Block::kBroken:
          return false;
        case Block::kLast:
          return AtBoundary() && record_ == lengths_.size();
        case Block::kOther:
          if (produced_ == block_start && BehindMark() && AtBoundary()) AddPoint();
      }
    }
  }

  // Of the compressed byte that comes next.
  uint64_t offset() const { return read_to_ - stream_.avail_in; }

  std::vector<FlushPoint> TakePoints() { return std::move(points_); }

 private:
  enum class Block { kOther, kLast, kBroken };

  Block InflateBlock() {
    for (;;) {
      if (stream_.avail_in == 0) Refill();
      if (stream_.avail_in == 0) return Block::kBroken;
      stream_.next_out = output_.data();
      stream_.avail_out = static_cast<uInt>(output_.size());
      const int code = inflate(&stream_, Z_BLOCK);
      produced_ += output_.size() - stream_.avail_out;
      if (code == Z_STREAM_END) return Block::kLast;
      if (code != Z_OK && code != Z_BUF_ERROR) return Block::kBroken;
      if ((stream_.data_type & kBlockEnd) != 0) return Block::kOther;
    }
  }

  void Refill() {
    const size_t got = file_.ReadAt(read_to_, input_);
    read_to_ += got;
    stream_.next_in = input_.data();
    stream_.avail_in = static_cast<uInt>(got);
  }

  bool BehindMark() const {
    uint8_t mark[sizeof kFlushMark] = {};
    return (stream_.data_type & (kLastBlock | kUnusedBits)) == 0 &&
           file_.ReadAt(offset() - sizeof mark, mark) == sizeof mark &&
           std::ranges::equal(mark, kFlushMark);
  }

  bool AtBoundary() {
    while (boundary_ < produced_ && record_ < lengths_.size()) {
      boundary_ += lengths_[record_++] + kFrameBytes;
    }
    return boundary_ == produced_;
  }

  void AddPoint() {
    if (points_.back().first_record == record_) return;
    points_.push_back({.file_offset = offset(), .first_record = record_});
    inflateReset(&stream_);
  }

  // Parts of z_stream::data_type after Z_BLOCK.
  static constexpr int kBlockEnd = 128;
  static constexpr int kLastBlock = 64;
  static constexpr int kUnusedBits = 7;

  const ReadableFile& file_;
  uint64_t read_to_;
  std::span<const uint32_t> lengths_;
  ByteBuffer input_;
  ByteBuffer output_ = ByteBuffer(kBufferBytes);  // looked at by nobody
  z_stream stream_ = {};
  uint64_t produced_ = 0;
  uint64_t boundary_ = 0;  // the end of the frames before record_
  size_t record_ = 0;
  std::vector<FlushPoint> points_;
};

}  // namespace

uint64_t FirstFlushPoint(const ReadableFile& file, Compression compression) {
  if (compression == Compression::kNone) return 0;
  const bool gzip = compression == Compression::kGzip;
  const size_t header = gzip ? kGzipHeaderBytes : kZlibHeaderBytes;
  uint8_t head[kGzipHeaderBytes + 1 + sizeof kFlushMark];
  const std::span<uint8_t> start = std::span(head).first(header + 1 + sizeof kFlushMark);
  if (file.ReadAt(0, start) < start.size()) return 0;
  // Flags of optional parts behind the header: our writer sets none.
  if (gzip ? head[3] != 0 : (head[1] & 0x20) != 0) return 0;
  const auto block = start.subspan(header);
  const bool flushed = block[0] == 0 && std::ranges::equal(block.subspan(1), kFlushMark);
  return flushed ? start.size() : 0;
}

std::vector<FlushPoint> FindFlushPoints(const ReadableFile& file, Compression compression,
                                        std::span<const uint32_t> lengths) {
  const uint64_t first = FirstFlushPoint(file, compression);
  if (first == 0) return {};
  const size_t trailer = compression == Compression::kGzip ? kGzipTrailerBytes : kZlibTrailerBytes;
  BlockWalk walk(file, first, lengths);
  // Several gzip members are no stream of ours.
  if (!walk.Run() || walk.offset() + trailer != file.Size()) return {};
  return walk.TakePoints();
}

}  // namespace recpack
