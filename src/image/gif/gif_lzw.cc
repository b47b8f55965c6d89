#include "src/image/gif/gif_lzw.h"

#include <array>
#include <optional>

namespace recpack {
namespace {

constexpr int kMostBits = 12;
constexpr size_t kMostCodes = size_t{1} << kMostBits;
constexpr uint32_t kNone = UINT32_MAX;

// Reads codes from sub-blocks, the lowest bits first.
class CodeReader {
 public:
  explicit CodeReader(ByteView data) : data_(data) {}

  std::optional<uint32_t> Next(int bits) {
    while (have_ < bits) {
      if (left_ == 0) {
        if (at_ >= data_.size() || data_[at_] == 0) return std::nullopt;
        left_ = data_[at_++];
      }
      if (at_ >= data_.size()) return std::nullopt;
      held_ |= static_cast<uint32_t>(data_[at_++]) << have_;
      have_ += 8;
      --left_;
    }
    const uint32_t code = held_ & ((1U << bits) - 1);
    held_ >>= bits;
    have_ -= bits;
    return code;
  }

 private:
  const ByteView data_;
  size_t at_ = 0;
  size_t left_ = 0;  // bytes of the sub-block
  uint32_t held_ = 0;
  int have_ = 0;  // bits
};

}  // namespace

GifPixels DecodeGifPixels(ByteView data, int min_bits, std::span<uint8_t> out) {
  const uint32_t clear = 1U << min_bits, end = clear + 1;
  std::array<uint16_t, kMostCodes> prefix;
  std::array<uint8_t, kMostCodes> suffix, stack;
  CodeReader reader(data);
  GifPixels result;
  int bits = min_bits + 1;
  uint32_t next = clear + 2;
  uint32_t previous = kNone;
  uint8_t first = 0;
  while (result.pixels < out.size()) {
    const auto code = reader.Next(bits);
    if (!code || *code == end) return result;
    if (*code == clear) {
      bits = min_bits + 1;
      next = clear + 2;
      previous = kNone;
      continue;
    }
    // A code may be the one that this very step defines: the previous string and its first pixel.
    if (*code > next || (*code >= clear && previous == kNone) ||
        (*code == next && next == kMostCodes)) {
      result.is_damaged = true;
      return result;
    }
    size_t depth = 0;
    uint32_t at = *code;
    if (at == next) {
      stack[depth++] = first;
      at = previous;
    }
    for (; at >= clear; at = prefix[at]) stack[depth++] = suffix[at];
    first = static_cast<uint8_t>(at);
    stack[depth++] = first;
    if (previous != kNone && next < kMostCodes) {
      prefix[next] = static_cast<uint16_t>(previous);
      suffix[next] = first;
      ++next;
      if (next == 1U << bits && bits < kMostBits) ++bits;
    }
    while (depth > 0 && result.pixels < out.size()) out[result.pixels++] = stack[--depth];
    previous = *code;
  }
  return result;
}

}  // namespace recpack
