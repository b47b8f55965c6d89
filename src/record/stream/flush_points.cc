#include "src/record/stream/flush_points.h"

#include <zlib.h>

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/record/framing.h"
#include "src/record/stream/frames.h"
#include "src/record/stream/window.h"

namespace recpack {
namespace {

constexpr size_t kInputBytes = size_t{1} << 18;

// Header sizes of RFC 1952 and RFC 1950, without optional parts.
constexpr size_t kGzipHeaderBytes = 10;
constexpr size_t kGzipTrailerBytes = 8;
constexpr size_t kZlibHeaderBytes = 2;
constexpr size_t kZlibTrailerBytes = 4;

// Position after a full flush, or after bytes that look like one.
struct Mark {
  uint64_t file_offset;
  uint64_t offset;  // uncompressed
};

// Checksum at the end of a stream.
class Trailer {
 public:
  explicit Trailer(Compression compression)
      : gzip_(compression == Compression::kGzip),
        sum_(gzip_ ? crc32(0, nullptr, 0) : adler32(0, nullptr, 0)) {}

  void Add(ByteView bytes) {
    const auto size = static_cast<uInt>(bytes.size());
    sum_ = gzip_ ? crc32(sum_, bytes.data(), size) : adler32(sum_, bytes.data(), size);
    bytes_ += size;
  }

  // Tells whether the file has this checksum at `offset`, and nothing after it.
  bool EndsFile(const ReadableFile& file, uint64_t offset) const {
    uint8_t there[kGzipTrailerBytes] = {};
    const size_t size = gzip_ ? kGzipTrailerBytes : kZlibTrailerBytes;
    if (offset + size != file.Size() || file.ReadAt(offset, {there, size}) != size) return false;
    if (!gzip_) std::reverse(there, there + size);
    return LoadLittleEndian<uint32_t>(there) == sum_ &&
           (!gzip_ || LoadLittleEndian<uint32_t>(there + 4) == static_cast<uint32_t>(bytes_));
  }

 private:
  bool gzip_;
  uLong sum_;
  uint64_t bytes_ = 0;
};

// Inflates block by block and resets its window at each mark.
class FlushedSource final : public ByteSource {
 public:
  FlushedSource(const ReadableFile& file, uint64_t first, Compression compression,
                std::vector<Mark>& marks)
      : file_(file), read_to_(first), trailer_(compression), input_(kInputBytes), marks_(marks) {
    if (inflateInit2(&stream_, -15) != Z_OK) throw std::bad_alloc();
    marks_.push_back({.file_offset = first, .offset = 0});
  }
  ~FlushedSource() override { inflateEnd(&stream_); }
  FlushedSource(const FlushedSource&) = delete;

  size_t Read(std::span<uint8_t> out) override {
    size_t got = 0;
    while (got < out.size() && !ended_) {
      if (stream_.avail_in == 0) Refill();
      got += Step(out.subspan(got));
    }
    return got;
  }

 private:
  // Parts of z_stream::data_type after Z_BLOCK.
  static constexpr int kBlockEnd = 128;
  static constexpr int kLastBlock = 64;
  static constexpr int kUnusedBits = 7;

  // Inflates up to the end of a block.
  size_t Step(std::span<uint8_t> out) {
    constexpr size_t kMost = size_t{1} << 30;  // avail_out is 32 bits wide
    stream_.next_out = out.data();
    stream_.avail_out = static_cast<uInt>(std::min(out.size(), kMost));
    const int code = inflate(&stream_, Z_BLOCK);
    const ByteView made = out.first(static_cast<size_t>(stream_.next_out - out.data()));
    trailer_.Add(made);
    produced_ += made.size();
    if (code == Z_STREAM_END) {
      if (!trailer_.EndsFile(file_, offset())) Fail();
      ended_ = true;
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      Fail();
    } else if ((stream_.data_type & kBlockEnd) != 0) {
      if (produced_ == block_start_ && BehindMark()) AddMark();
      block_start_ = produced_;
    }
    return made.size();
  }

  void Refill() {
    const size_t got = file_.ReadAt(read_to_, input_);
    if (got == 0) Fail();
    read_to_ += got;
    stream_.next_in = input_.data();
    stream_.avail_in = static_cast<uInt>(got);
  }

  // Returns the file offset of the next compressed byte.
  uint64_t offset() const { return read_to_ - stream_.avail_in; }

  bool BehindMark() const {
    uint8_t mark[sizeof kFlushMark] = {};
    return (stream_.data_type & (kLastBlock | kUnusedBits)) == 0 &&
           file_.ReadAt(offset() - sizeof mark, mark) == sizeof mark &&
           std::ranges::equal(mark, kFlushMark);
  }

  void AddMark() {
    if (marks_.back().offset != produced_) {
      marks_.push_back({.file_offset = offset(), .offset = produced_});
    }
    inflateReset(&stream_);
  }

  [[noreturn]] void Fail() const {
    throw Error(ErrorKind::kCorrupt, "was not written by recpack", {.path = file_.path()});
  }

  const ReadableFile& file_;
  uint64_t read_to_;
  Trailer trailer_;
  ByteBuffer input_;
  std::vector<Mark>& marks_;
  z_stream stream_ = {};
  uint64_t produced_ = 0;
  uint64_t block_start_ = 0;
  bool ended_ = false;
};

// Returns the marks at record boundaries as flush points.
std::vector<FlushPoint> PointsAt(const std::vector<Mark>& marks,
                                 const std::vector<uint32_t>& lengths) {
  std::vector<FlushPoint> points;
  uint64_t boundary = 0;
  uint64_t record = 0;
  for (const Mark& mark : marks) {
    while (boundary < mark.offset && record < lengths.size()) {
      boundary += lengths[record++] + kFrameBytes;
    }
    if (boundary == mark.offset) points.push_back({mark.file_offset, record});
  }
  return points;
}

}  // namespace

uint64_t FirstFlushPoint(const ReadableFile& file, Compression compression) {
  if (compression == Compression::kNone) return 0;
  const bool gzip = compression == Compression::kGzip;
  const size_t header = gzip ? kGzipHeaderBytes : kZlibHeaderBytes;
  uint8_t head[kGzipHeaderBytes + 1 + sizeof kFlushMark];
  const std::span<uint8_t> start = std::span(head).first(header + 1 + sizeof kFlushMark);
  if (file.ReadAt(0, start) < start.size()) return 0;
  // Flags of optional parts after the header: RecordWriter sets none.
  if (gzip ? head[3] != 0 : (head[1] & 0x20) != 0) return 0;
  const auto block = start.subspan(header);
  const bool flushed = block[0] == 0 && std::ranges::equal(block.subspan(1), kFlushMark);
  return flushed ? start.size() : 0;
}

std::optional<FlushedStream> ReadFlushedStream(const ReadableFile& file, Compression compression,
                                               bool verify) try {
  const uint64_t first = FirstFlushPoint(file, compression);
  if (first == 0) return {};
  FlushedStream stream;
  std::vector<Mark> marks;
  Window window(std::make_unique<FlushedSource>(file, first, compression, marks), kScanWindowBytes);
  stream.frames = ReadFrames(window, verify, file.Size() * kMostDeflated, file.path());
  stream.flush_points = PointsAt(marks, stream.frames.lengths);
  return stream;
} catch (const Error& error) {
  if (error.kind() != ErrorKind::kCorrupt) throw;
  return {};
}

}  // namespace recpack
