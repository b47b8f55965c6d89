#include "src/record/compression/byte_source.h"

#include <zlib.h>

#include <algorithm>
#include <string>

#include "recpack/base/error.h"
#include "recpack/record/framing.h"
#include "src/base/format.h"
#include "src/record/compression/fast_inflate.h"

namespace recpack {
namespace {

constexpr size_t kReadBytes = size_t{1} << 18;

class FileSource final : public ByteSource {
 public:
  FileSource(const ReadableFile& file, uint64_t offset, uint64_t end)
      : file_(file), position_(offset), end_(end) {}

  size_t Read(std::span<uint8_t> out) override {
    const uint64_t left = end_ - std::min(end_, position_);
    const size_t got = file_.ReadAt(position_, out.first(std::min<uint64_t>(out.size(), left)));
    position_ += got;
    return got;
  }

 private:
  const ReadableFile& file_;
  uint64_t position_;
  const uint64_t end_;
};

enum class Format { kWithHeader, kRaw };

class InflateSource final : public ByteSource {
 public:
  InflateSource(const ReadableFile& file, uint64_t offset, Format format, size_t read_bytes)
      : file_(file), format_(format), file_position_(offset), input_(read_bytes) {
    // 15 window bits; plus 32: detect gzip or zlib; negative: raw, without header and checksum.
    const int window = format == Format::kRaw ? -15 : 15 + 32;
    if (inflateInit2(&stream_, window) != Z_OK) throw std::bad_alloc();
  }
  ~InflateSource() override { inflateEnd(&stream_); }
  InflateSource(const InflateSource&) = delete;

  size_t Read(std::span<uint8_t> out) override {
    if (failure_) throw *failure_;
    constexpr size_t kMost = size_t{1} << 30;  // avail_out is 32 bits wide
    stream_.next_out = out.data();
    stream_.avail_out = static_cast<uInt>(std::min(out.size(), kMost));
    const auto produced = [&] { return static_cast<size_t>(stream_.next_out - out.data()); };
    while (stream_.avail_out > 0 && !ended_) {
      if (stream_.avail_in == 0) Refill();
      if (!Step()) {
        if (produced() == 0) throw *failure_;
        break;
      }
    }
    return produced();
  }

 private:
  void Refill() {
    const size_t got = file_.ReadAt(file_position_, input_);
    file_position_ += got;
    stream_.next_in = input_.data();
    stream_.avail_in = static_cast<uInt>(got);
  }

  // Calls inflate() once. Returns false, with failure_ set, if the stream is damaged.
  bool Step() {
    if (between_members_) {
      if (stream_.avail_in == 0) {
        ended_ = true;
        return true;
      }
      inflateReset(&stream_);
      between_members_ = false;
    }
    if (stream_.avail_in == 0) return Fail("the compressed stream is cut off");
    const int code = inflate(&stream_, Z_NO_FLUSH);
    if (code == Z_OK || code == Z_BUF_ERROR) return true;
    if (code != Z_STREAM_END) {
      return Fail(format("the compressed stream is damaged ({})",
                         stream_.msg != nullptr ? stream_.msg : "unexpected end"));
    }
    // A raw stream is followed by its checksum, and then by nothing.
    if (format_ == Format::kRaw) ended_ = true;
    between_members_ = true;
    return true;
  }

  bool Fail(std::string reason) {
    failure_.emplace(ErrorKind::kCorrupt, std::move(reason),
                     Place{.path = file_.path(), .offset = file_position_ - stream_.avail_in},
                     "`recpack repair` can save the records before it");
    return false;
  }

  const ReadableFile& file_;
  Format format_;
  uint64_t file_position_;
  ByteBuffer input_;
  z_stream stream_ = {};
  bool between_members_ = false;
  bool ended_ = false;
  std::optional<Error> failure_;
};

}  // namespace

Compression DetectCompression(const ReadableFile& file) {
  uint8_t head[kFrameHeaderBytes] = {};
  const size_t got = file.ReadAt(0, head);
  if (got < 2 || (got == sizeof head && FrameHeaderHolds(head))) return Compression::kNone;
  // RFC 1952: deflate, and no reserved flag.
  if (head[0] == 0x1f && head[1] == 0x8b && head[2] == 8 && (head[3] & 0xe0) == 0) {
    return Compression::kGzip;
  }
  // RFC 1950: deflate with a window of up to 32 KiB, and a checksum of the two bytes. No deflate
  // stream begins with four zeros: they are the upper half of a record's (damaged) length.
  const bool zlib =
      (head[0] & 0x0f) == 8 && (head[0] >> 4) <= 7 && (head[0] * 256 + head[1]) % 31 == 0;
  const bool length = got >= 8 && LoadLittleEndian<uint32_t>(head + 4) == 0;
  return zlib && !length ? Compression::kZlib : Compression::kNone;
}

std::unique_ptr<ByteSource> MakeByteSource(const ReadableFile& file, Compression compression) {
  if (compression == Compression::kNone) return MakeByteSourceAt(file, 0);
  return MakeFastInflateSource(file, 0, compression, kReadBytes, [&file] {
    return std::make_unique<InflateSource>(file, 0, Format::kWithHeader, kReadBytes);
  });
}

std::unique_ptr<ByteSource> MakeByteSourceAt(const ReadableFile& file, uint64_t offset,
                                             uint64_t end) {
  return std::make_unique<FileSource>(file, offset, end);
}

std::unique_ptr<ByteSource> MakeFlushPointSource(const ReadableFile& file, uint64_t file_offset,
                                                 size_t read_bytes) {
  return MakeFastInflateSource(file, file_offset, Compression::kNone, read_bytes, [=, &file] {
    return std::make_unique<InflateSource>(file, file_offset, Format::kRaw, read_bytes);
  });
}

}  // namespace recpack
