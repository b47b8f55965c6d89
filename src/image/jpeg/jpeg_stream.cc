#include "src/image/jpeg/jpeg_stream.h"

#include <algorithm>
#include <cstring>

namespace recpack {
namespace {

constexpr size_t kPiece = size_t{1} << 15;  // bytes copied at a time
constexpr size_t kRefillBytes = 8;          // lead of a reader over the bits it has consumed

}  // namespace

void JpegStream::Start(ByteView jpeg, size_t at) {
  jpeg_ = jpeg;
  at_ = at;
  size_ = 0;
  ended_ = false;
}

const uint8_t* JpegStream::Open() {
  Fill(0);
  return buffer_.data();
}

// Drops the bytes before `keep_from` and appends more.
void JpegStream::Fill(size_t keep_from) {
  if (buffer_.empty()) buffer_.resize(kPiece + 2 * kReach);
  uint8_t* to = buffer_.data();
  size_ -= keep_from;
  std::memmove(to, to + keep_from, size_);
  while (size_ < kPiece && !ended_) {
    const size_t most = std::min(kPiece - size_, jpeg_.size() - at_);
    const uint8_t* from = jpeg_.data() + at_;
    const void* stuffed = most == 0 ? nullptr : std::memchr(from, 0xFF, most);
    const size_t plain = stuffed == nullptr
                             ? most
                             : static_cast<size_t>(static_cast<const uint8_t*>(stuffed) - from);
    std::memcpy(to + size_, from, plain);
    size_ += plain;
    at_ += plain;
    if (at_ == jpeg_.size()) {
      ended_ = true;
    } else if (stuffed != nullptr) {
      ended_ = at_ + 1 == jpeg_.size() || jpeg_[at_ + 1] != 0;
      if (!ended_) to[size_++] = 0xFF, at_ += 2;
    }
  }
  if (ended_) {
    std::memset(to + size_, 0, kReach + kRefillBytes);
    limit_ = to + size_;
  } else {
    limit_ = to + size_ - kReach;
  }
}

bool JpegStream::Advance(JpegBits& bits) {
  if (!ended_) {
    const size_t keep_from = static_cast<size_t>(bits.position() - buffer_.data());
    const std::ptrdiff_t ahead = bits.next - bits.position();
    Fill(keep_from);
    bits.next = buffer_.data() + ahead;
  }
  return !IsBeyondEnd(bits);
}

bool JpegStream::IsAtEnd(JpegBits& bits) {
  if (!ended_ && !Advance(bits)) return false;
  return ended_ && bits.position() == buffer_.data() + size_;
}

uint8_t JpegStream::FindMarker() {
  while (!ended_) {
    const uint8_t* from = jpeg_.data() + at_;
    const size_t left = jpeg_.size() - at_;
    const void* found = left < 2 ? nullptr : std::memchr(from, 0xFF, left - 1);
    if (found == nullptr) {
      at_ = jpeg_.size();
      ended_ = true;
    } else {
      at_ += static_cast<size_t>(static_cast<const uint8_t*>(found) - from);
      ended_ = jpeg_[at_ + 1] != 0;
      if (!ended_) at_ += 2;
    }
  }
  return at_ + 1 < jpeg_.size() ? jpeg_[at_ + 1] : 0;
}

}  // namespace recpack
