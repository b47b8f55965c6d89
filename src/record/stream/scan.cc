#include <algorithm>
#include <filesystem>
#include <memory>

#include "recpack/base/error.h"
#include "recpack/record/framing.h"
#include "recpack/record/index.h"
#include "src/base/format.h"
#include "src/record/compression/byte_source.h"
#include "src/record/crc/shard_check.h"
#include "src/record/stream/flush_points.h"
#include "src/record/stream/frames.h"

namespace recpack {
namespace {

// Size of a read call. Short records are read whole, which costs less than a call for each header.
constexpr size_t kReadBytes = size_t{256} << 10;
// Size of a read for headers only, if records are long.
constexpr size_t kSkimBytes = 512;
constexpr uint64_t kLongRecord = 24 << 10;

// Reads the headers and footers of an uncompressed shard; payloads are not checked.
class HeaderScan {
 public:
  explicit HeaderScan(const ReadableFile& file)
      : file_(file),
        size_(file.Size()),
        buffer_(std::make_unique_for_overwrite<uint8_t[]>(kReadBytes)) {}

  FrameTable Run() {
    FrameTable frames;
    std::vector<uint32_t>& lengths = frames.lengths;
    for (uint64_t at = 0; at < size_;) {
      const uint8_t* header = Find(at, kFrameHeaderBytes);
      if (header == nullptr)
        Fail("the file ends within the header of a record", at, lengths.size());
      if (!FrameHeaderHolds(header)) {
        Fail("the CRC of the length does not match", at, lengths.size());
      }
      const uint64_t length = FrameLength(header);
      if (size_ - at < kFrameBytes || length > size_ - at - kFrameBytes) {
        Fail(format("the file ends within a record of {} bytes", length), at, lengths.size());
      }
      lengths.push_back(CheckedLength(length, file_.path(), at, lengths.size()));
      at += length + kFrameBytes;
      read_bytes_ = length < kLongRecord ? kReadBytes : kSkimBytes;
      const uint8_t* footer = Find(at - kFrameFooterBytes, kFrameFooterBytes);
      if (footer == nullptr) Fail("the file was cut off meanwhile", at, lengths.size());
      frames.crcs.push_back(FrameCrc(footer));
    }
    return frames;
  }

 private:
  // Returns `size` bytes at `at`, valid until the next call; null if the file ends before.
  const uint8_t* Find(uint64_t at, size_t size) {
    if (at - begin_ + size > have_) {
      begin_ = at;
      have_ = file_.ReadAt(at, {buffer_.get(), read_bytes_});
      if (have_ < size) return nullptr;
    }
    return buffer_.get() + (at - begin_);
  }

  [[noreturn]] void Fail(const std::string& reason, uint64_t offset, size_t ordinal) const {
    throw Error(ErrorKind::kCorrupt, reason,
                {.path = file_.path(), .offset = offset, .ordinal = ordinal}, kDamageAdvice);
  }

  const ReadableFile& file_;
  const uint64_t size_;
  const std::unique_ptr<uint8_t[]> buffer_;
  size_t read_bytes_ = kReadBytes;
  uint64_t begin_ = 0;  // file offset of the buffer
  size_t have_ = 0;
};

// Reads all bytes of a shard, inflated if it is compressed.
FrameTable ReadThrough(const ReadableFile& file, Compression compression, bool verify) {
  const uint64_t most_bytes = file.Size() * (compression == Compression::kNone ? 1 : kMostDeflated);
  Window window(MakeByteSource(file, compression),
                std::min<uint64_t>(kScanWindowBytes, most_bytes));
  return ReadFrames(window, verify, most_bytes, file.path());
}

}  // namespace

ShardEntries ScanShard(FileSystem& files, const std::string& path, bool verify) {
  return ScanShard(*files.OpenForReading(path), std::filesystem::path(path).filename(), verify);
}

ShardEntries ScanShard(const ReadableFile& file, const std::string& name, bool verify) {
  ShardEntries entries;
  entries.name = name;
  entries.file_bytes = file.Size();
  entries.compression = DetectCompression(file);
  FrameTable frames;
  if (entries.compression == Compression::kNone && !verify) {
    frames = HeaderScan(file).Run();
  } else if (auto stream = ReadFlushedStream(file, entries.compression, verify)) {
    frames = std::move(stream->frames);
    entries.flush_points = std::move(stream->flush_points);
  } else {
    frames = ReadThrough(file, entries.compression, verify);
  }
  entries.lengths = std::move(frames.lengths);
  entries.crcs = std::move(frames.crcs);
  entries.check = ShardCheck(entries.lengths, entries.crcs, entries.flush_points,
                             ReadTail(file, entries.file_bytes));
  return entries;
}

std::string DaliIndexText(const ShardEntries& entries) {
  if (entries.compression != Compression::kNone) {
    throw Error(ErrorKind::kUnsupported, "is compressed, and DALI reads shards as they are",
                {.path = entries.name}, "leave out DALI's index, or pack without compression");
  }
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
