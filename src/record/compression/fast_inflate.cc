#include "src/record/compression/fast_inflate.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <utility>

#include "recpack/base/bytes.h"
#include "recpack/base/error.h"

namespace recpack {
namespace {

uint32_t WrapperBytes(Compression compression) {
  if (compression == Compression::kGzip) return ISAL_GZIP;
  return compression == Compression::kZlib ? ISAL_ZLIB : ISAL_DEFLATE;
}

class FastInflateSource final : public ByteSource {
 public:
  FastInflateSource(const ReadableFile& file, uint64_t offset, Compression wrapper,
                    size_t read_bytes, MakeSource exact)
      : file_(file),
        file_position_(offset),
        make_exact_(std::move(exact)),
        input_(read_bytes),
        stream_(std::make_unique<inflate_state>()) {
    // Does not initialise everything, and damaged streams can read the rest: it was zeroed before.
    isal_inflate_init(stream_.get());
    stream_->crc_flag = WrapperBytes(wrapper);
    stream_->avail_in = 0;
  }

  size_t Read(std::span<uint8_t> out) override {
    if (exact_) return exact_->Read(out);
    const size_t got = ReadFast(out);
    handed_out_ += got;
    return exact_needed_ ? got + ReadExact(out.subspan(got), got > 0) : got;
  }

 private:
  // Returns the bytes of the file not consumed yet.
  uint64_t left_in() const {
    return stream_->avail_in + static_cast<uint64_t>(std::max(0, stream_->read_in_length)) / 8;
  }

  void Refill() {
    const size_t got = file_.ReadAt(file_position_, input_);
    file_position_ += got;
    stream_->next_in = input_.data();
    stream_->avail_in = static_cast<uint32_t>(got);
  }

  size_t ReadFast(std::span<uint8_t> out) {
    constexpr size_t kMost = size_t{1} << 30;  // avail_out is 32 bits wide
    stream_->next_out = out.data();
    stream_->avail_out = static_cast<uint32_t>(std::min(out.size(), kMost));
    while (stream_->avail_out > 0 && !ended_ && !exact_needed_) Step();
    return static_cast<size_t>(stream_->next_out - out.data());
  }

  void Step() {
    if (stream_->avail_in == 0) Refill();
    const bool no_input = stream_->avail_in == 0;
    const uint32_t room = stream_->avail_out;
    const bool damaged = isal_inflate(stream_.get()) != ISAL_DECOMP_OK;
    if (damaged || (no_input && stream_->avail_out == room)) {
      exact_needed_ = true;
    } else if (stream_->block_state == ISAL_BLOCK_FINISH) {
      ended_ = true;
      // The checksum after a raw stream is not checked. Otherwise another gzip member may follow.
      const bool raw = stream_->crc_flag == ISAL_DEFLATE;
      exact_needed_ = !raw && file_position_ - left_in() != file_.Size();
    }
  }

  // Continues with the exact source after the bytes already returned. `some_read`: defer an error
  // to the next call.
  size_t ReadExact(std::span<uint8_t> out, bool some_read) {
    auto exact = make_exact_();
    size_t got = 0;
    try {
      SkipHandedOut(*exact);
      got = exact->Read(out);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kCorrupt) throw;
      if (!some_read) {
        exact_ = std::move(exact);
        throw;
      }
    }
    exact_ = std::move(exact);  // throws its error again at the next call, if it had one
    return got;
  }

  void SkipHandedOut(ByteSource& source) const {
    ByteBuffer ignored(std::min<uint64_t>(handed_out_, size_t{1} << 16));
    for (uint64_t left = handed_out_; left > 0;) {
      const size_t got = source.Read({ignored.data(), std::min<uint64_t>(left, ignored.size())});
      if (got == 0) return;
      left -= got;
    }
  }

  const ReadableFile& file_;
  uint64_t file_position_;
  const MakeSource make_exact_;
  ByteBuffer input_;
  std::unique_ptr<inflate_state> stream_;
  uint64_t handed_out_ = 0;
  bool ended_ = false;
  bool exact_needed_ = false;
  std::unique_ptr<ByteSource> exact_;
};

}  // namespace

std::unique_ptr<ByteSource> MakeFastInflateSource(const ReadableFile& file, uint64_t offset,
                                                  Compression wrapper, size_t read_bytes,
                                                  MakeSource exact) {
  return std::make_unique<FastInflateSource>(file, offset, wrapper, read_bytes, std::move(exact));
}

}  // namespace recpack
