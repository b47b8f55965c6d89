#include "src/pack/item/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <memory>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack::pack {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 18;
constexpr uint8_t kGzipMagic[] = {0x1f, 0x8b};
constexpr uint8_t kZstdMagic[] = {0x28, 0xb5, 0x2f, 0xfd};
constexpr uint8_t kXzMagic[] = {0xfd, '7', 'z', 'X', 'Z', 0};
constexpr uint8_t kBzip2Magic[] = {'B', 'Z', 'h'};

bool BeginsWith(const ReadableFile& file, ByteView magic) {
  uint8_t first[8];
  const std::span<uint8_t> bytes(first, magic.size());
  return file.ReadAt(0, bytes) == magic.size() && std::ranges::equal(bytes, magic);
}

[[noreturn]] void FailCorrupt(const std::string& path, uint64_t offset, const char* why) {
  throw Error(ErrorKind::kCorrupt, format("the compressed data is damaged or cut off ({})", why),
              {.path = path, .offset = offset}, "fetch it again");
}

class Inflater {
 public:
  // `window_bits` is passed to zlib's inflateInit2().
  explicit Inflater(int window_bits) {
    if (::inflateInit2(&stream_, window_bits) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { ::inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;

  z_stream& stream() { return stream_; }

 private:
  z_stream stream_ = {};
};

class GzipUnpacker {
 public:
  GzipUnpacker(const ReadableFile& file, const std::function<void(ByteView)>& sink)
      : file_(file), sink_(sink), inflater_(15 + 16), in_(kBlockBytes), out_(kBlockBytes) {}

  void Run() {
    bool within_member = true;
    while (Fill()) {
      z_stream& stream = inflater_.stream();
      stream.next_out = out_.data();
      stream.avail_out = static_cast<uInt>(out_.size());
      const int status = ::inflate(&stream, Z_NO_FLUSH);
      sink_({out_.data(), out_.size() - stream.avail_out});
      within_member = status != Z_STREAM_END;
      more_output_ = within_member && stream.avail_out == 0;
      if (status == Z_STREAM_END) {
        ::inflateReset(&stream);
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        FailCorrupt(file_.path(), offset_ - stream.avail_in,
                    stream.msg != nullptr ? stream.msg : "inflate failed");
      }
    }
    if (within_member) FailCorrupt(file_.path(), offset_, "it ends too early");
  }

 private:
  // Returns false at the end of the file, when all output was taken.
  bool Fill() {
    z_stream& stream = inflater_.stream();
    if (stream.avail_in > 0) return true;
    const size_t got = file_.ReadAt(offset_, in_);
    offset_ += got;
    stream.next_in = in_.data();
    stream.avail_in = static_cast<uInt>(got);
    return got > 0 || more_output_;
  }

  const ReadableFile& file_;
  const std::function<void(ByteView)>& sink_;
  Inflater inflater_;
  ByteBuffer in_, out_;
  uint64_t offset_ = 0;
  bool more_output_ = false;  // inflate() filled its output buffer
};

// Unpacks all formats but gzip, whose checksums libarchive does not check.
class ArchiveUnpacker {
 public:
  explicit ArchiveUnpacker(const ReadableFile& file)
      : file_(file), in_(kBlockBytes), archive_(archive_read_new(), &archive_read_free) {
    if (archive_ == nullptr) throw std::bad_alloc();
    archive_read_support_filter_zstd(archive_.get());
    archive_read_support_filter_xz(archive_.get());
    archive_read_support_filter_bzip2(archive_.get());
    archive_read_support_format_raw(archive_.get());
  }

  void Run(const std::function<void(ByteView)>& sink) {
    archive_entry* entry = nullptr;
    Check(archive_read_open(archive_.get(), this, nullptr, &ReadFile, nullptr));
    Check(archive_read_next_header(archive_.get(), &entry));
    for (;;) {
      const void* block = nullptr;
      size_t size = 0;
      la_int64_t offset = 0;
      const int status = archive_read_data_block(archive_.get(), &block, &size, &offset);
      if (status == ARCHIVE_EOF) return;
      Check(status);
      sink({static_cast<const uint8_t*>(block), size});
    }
  }

 private:
  static la_ssize_t ReadFile(archive* reader, void* self, const void** block) {
    auto& unpacker = *static_cast<ArchiveUnpacker*>(self);
    try {
      const size_t got = unpacker.file_.ReadAt(unpacker.offset_, unpacker.in_);
      unpacker.offset_ += got;
      *block = unpacker.in_.data();
      return static_cast<la_ssize_t>(got);
    } catch (...) {
      unpacker.read_error_ = std::current_exception();
      archive_set_error(reader, EIO, "read failed");
      return -1;
    }
  }

  void Check(int status) {
    if (status == ARCHIVE_OK || status == ARCHIVE_WARN) return;
    if (read_error_) std::rethrow_exception(read_error_);
    const char* why = archive_error_string(archive_.get());
    FailCorrupt(file_.path(), offset_, why != nullptr ? why : "it ends too early");
  }

  const ReadableFile& file_;
  ByteBuffer in_;
  uint64_t offset_ = 0;
  std::exception_ptr read_error_;  // held across libarchive's C frames
  std::unique_ptr<archive, decltype(&archive_read_free)> archive_;
};

}  // namespace

bool IsCompressed(const ReadableFile& file) {
  return BeginsWith(file, kGzipMagic) || BeginsWith(file, kZstdMagic) ||
         BeginsWith(file, kXzMagic) || BeginsWith(file, kBzip2Magic);
}

void Unpack(const ReadableFile& file, const std::function<void(ByteView)>& sink) {
  if (BeginsWith(file, kGzipMagic)) {
    GzipUnpacker(file, sink).Run();
  } else {
    ArchiveUnpacker(file).Run(sink);
  }
}

ByteBuffer InflateZlib(ByteView bytes, size_t max_bytes) {
  Inflater inflater(15);
  z_stream& stream = inflater.stream();
  stream.next_in = const_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  ByteBuffer out;
  int status = Z_OK;
  while (status == Z_OK) {
    const size_t done = out.size();
    if (done >= max_bytes) throw Error(ErrorKind::kCorrupt, "inflates to more than the limit");
    out.resize(std::min(max_bytes, done + std::max(kBlockBytes, done)));
    stream.next_out = out.data() + done;
    stream.avail_out = static_cast<uInt>(out.size() - done);
    status = ::inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
  }
  if (status != Z_STREAM_END) throw Error(ErrorKind::kCorrupt, "compressed data is damaged");
  return out;
}

}  // namespace recpack::pack
