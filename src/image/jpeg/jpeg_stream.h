// The entropy-coded bytes of a scan without stuffing, from one marker to the next.
#pragma once

#include <vector>

#include "recpack/base/bytes.h"
#include "src/image/jpeg/jpeg_huffman.h"

namespace recpack {

// Reads segments of one scan, each up to its marker. A segment is copied in pieces, so that who
// stops early has not paid for the rest.
class JpegStream {
 public:
  // Bytes that may be read from a position that Prepare() was content with.
  static constexpr size_t kReach = 4096;

  // Begins a segment at `jpeg[at]`. `jpeg` must stay alive.
  void Start(ByteView jpeg, size_t at);

  // Its first byte, for a reader's `next`. Until then nothing is copied.
  const uint8_t* Open();

  // To be called before each step of at most kReach - 16 bytes. False where what was read so far
  // lies beyond the segment's end. May move `bits.next`.
  bool Prepare(JpegBits& bits) {
    if (bits.next <= limit_) [[likely]]
      return true;
    return Advance(bits);
  }

  // Whether all bytes have been read, and not more.
  bool IsAtEnd(JpegBits& bits);

  // Whether bits were read that the segment does not have.
  bool IsBeyondEnd(const JpegBits& bits) const noexcept {
    return ended_ && bits.position() > buffer_.data() + size_;
  }

  // Goes to the marker that ends the segment and returns its second byte; 0 where the file ends
  // without one.
  uint8_t FindMarker();
  // Where what follows that marker begins.
  size_t after_marker() const noexcept { return at_ + 2; }

  // Whether the file was found to end within the segment.
  bool is_cut() const noexcept { return ended_ && at_ + 1 >= jpeg_.size(); }

 private:
  bool Advance(JpegBits& bits);
  void Fill(size_t keep_from);

  ByteView jpeg_;
  size_t at_ = 0;  // first byte not yet copied; of a marker where ended_
  std::vector<uint8_t> buffer_;
  size_t size_ = 0;     // bytes in it that are the segment's
  bool ended_ = false;  // the segment's last byte is there
  const uint8_t* limit_ = nullptr;
};

}  // namespace recpack
