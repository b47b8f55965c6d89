// Reader of the entropy-coded segments of a scan; removes byte stuffing.
#pragma once

#include <vector>

#include "recpack/base/bytes.h"
#include "src/image/jpeg/jpeg_huffman.h"

namespace recpack {

// Reads segments of one scan, each up to its marker. Segments are copied in pieces, so that
// stopping early saves the rest of the work.
class JpegStream {
 public:
  // Bytes that may be read from a position for which Prepare() returned true.
  static constexpr size_t kReach = 4096;

  // Begins a segment at `jpeg[at]`. `jpeg` must stay alive.
  void Start(ByteView jpeg, size_t at);

  // Returns the first byte of the segment, for JpegBits::next. Nothing is copied before this call.
  const uint8_t* Open();

  // Must be called before each step of at most kReach - 16 bytes. Returns false if the position is
  // beyond the end of the segment. May move `bits.next`.
  bool Prepare(JpegBits& bits) {
    if (bits.next <= limit_) [[likely]]
      return true;
    return Advance(bits);
  }

  // Tells whether exactly all bytes have been read.
  bool IsAtEnd(JpegBits& bits);

  // Tells whether bits beyond the end of the segment have been read.
  bool IsBeyondEnd(const JpegBits& bits) const noexcept {
    return ended_ && bits.position() > buffer_.data() + size_;
  }

  // Skips to the marker that ends the segment and returns its second byte; 0 if the file ends
  // without one.
  uint8_t FindMarker();
  // Returns the offset after that marker.
  size_t after_marker() const noexcept { return at_ + 2; }

  // Tells whether the file ends within the segment.
  bool is_cut() const noexcept { return ended_ && at_ + 1 >= jpeg_.size(); }

 private:
  bool Advance(JpegBits& bits);
  void Fill(size_t keep_from);

  ByteView jpeg_;
  size_t at_ = 0;  // first byte not yet copied; the marker if ended_
  std::vector<uint8_t> buffer_;
  size_t size_ = 0;     // bytes of the segment in the buffer
  bool ended_ = false;  // the buffer has the segment's last byte
  const uint8_t* limit_ = nullptr;
};

}  // namespace recpack
