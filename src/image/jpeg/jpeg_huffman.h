// Huffman-coded blocks of a sequential JPEG (ITU-T T.81, annex F.2.2).
//
// Irregular data is not repaired or reported: it is refused, for libjpeg to decode again.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "recpack/base/bytes.h"

namespace recpack {

// What a code and the bits after it mean, so that one look-up does for both:
//   bits 0-5    bits that the code and the value take
//   bit 6       kHuffmanPartial: not known by the look-up alone
//   bit 7       kHuffmanInvalid
//   bits 8-14   coefficients to go forward: the run and one; kHuffmanEnd at the end of the block
//   bits 16-31  the value, signed; of partial entries its bits, or kHuffmanLongCode
using HuffmanEntry = uint32_t;
constexpr HuffmanEntry kHuffmanPartial = 1 << 6;
constexpr HuffmanEntry kHuffmanInvalid = 1 << 7;
constexpr int kHuffmanEnd = 64;
constexpr int kHuffmanBeyond = 127;  // of invalid entries: leaves every block
constexpr int kHuffmanLongCode = 255;

constexpr int HuffmanBits(HuffmanEntry e) { return static_cast<int>(e & 63); }
constexpr int HuffmanForward(HuffmanEntry e) { return static_cast<int>(e >> 8 & 127); }
constexpr int HuffmanValue(HuffmanEntry e) { return static_cast<int32_t>(e) >> 16; }

// The value whose `size` low bits are `bits` (T.81, EXTEND). size > 0.
constexpr int ExtendHuffmanValue(int bits, int size) {
  return bits - ((bits >> (size - 1) ^ 1) * ((1 << size) - 1));
}

class JpegHuffmanTable {
 public:
  enum class Kind : uint8_t { kDc, kAc };

  // Takes a table as DHT gives it: counts[n] codes of n bits (counts[0] is ignored) and their
  // symbols. False where codes do not fit, or a DC symbol is none of baseline JPEG. Cheap where it
  // is the table that was assigned last.
  bool Assign(Kind kind, const uint8_t counts[17], const uint8_t symbols[256]);

  // The entry for the code at the top of `buffer`, of whose bits at least 32 are the file's.
  HuffmanEntry Find(uint64_t buffer) const noexcept {
    const HuffmanEntry entry = lookup_[buffer >> (64 - kLookupBits)];
    if (entry & kHuffmanPartial) [[unlikely]] {
      return Complete(entry, buffer);
    }
    return entry;
  }

 private:
  static constexpr int kLookupBits = 11;

  HuffmanEntry Complete(HuffmanEntry entry, uint64_t buffer) const noexcept;
  // The entry of a code of `bits` bits, without its value.
  HuffmanEntry EntryOf(uint8_t symbol, int bits) const noexcept;
  void FillLookup(HuffmanEntry entry, uint32_t code, int length);

  Kind kind_ = Kind::kDc;
  bool valid_ = false;
  std::array<uint8_t, 17> counts_{};
  std::array<uint8_t, 256> symbols_{};
  // Codes of n bits are below limit_[n], as the top of 16 bits; symbol number offset_[n] + code.
  std::array<uint32_t, 17> limit_{};
  std::array<int, 17> offset_{};
  std::array<HuffmanEntry, 1 << kLookupBits> lookup_{};
};

// Bits of a stream without stuffed zeros, the next one on top.
struct JpegBits {
  uint64_t buffer = 0;
  int count = 0;                  // in `buffer`; bits below them are those of `next`, or 0
  const uint8_t* next = nullptr;  // 8 bytes are readable

  // Makes count at least 56.
  void Refill() noexcept {
    uint64_t bytes;
    std::memcpy(&bytes, next, sizeof bytes);
    if constexpr (std::endian::native == std::endian::little) bytes = __builtin_bswap64(bytes);
    buffer |= bytes >> count;
    next += (63 - count) >> 3;
    count |= 56;
  }
  void Consume(int bits) noexcept {
    buffer <<= bits;
    count -= bits;
  }
  // The first byte of which no bit was consumed.
  const uint8_t* position() const noexcept { return next - (count >> 3); }
};

// Bytes that one block and a Refill() after it can reach: 27 bits of DC, 63 coefficients of 26.
constexpr int kMaxBlockBytes = (27 + 63 * 26) / 8 + 17;

// Decodes a block whose coefficients `put(k, value)` takes, in zigzag order and without the DC,
// whose difference is added to `dc`. Returns the index of the last coefficient, or -1 for data that
// is not as it should be. `put` may also be called with a zero. Reads up to kMaxBlockBytes.
template <typename Put>
[[gnu::always_inline]] inline int DecodeHuffmanBlock(JpegBits& stream,
                                                     const JpegHuffmanTable& dc_codes,
                                                     const JpegHuffmanTable& ac_codes, int& dc,
                                                     Put&& put) {
  JpegBits bits = stream;  // in registers, which what others have the address of is not
  bits.Refill();
  const HuffmanEntry first = dc_codes.Find(bits.buffer);
  if (first & kHuffmanInvalid) [[unlikely]]
    return -1;
  bits.Consume(HuffmanBits(first));
  dc += HuffmanValue(first);
  int k = 0;
  while (true) {
    bits.Refill();
    // It lasts for two codes and their values, of 26 bits at most.
    for (int i = 0; i < 2; ++i) {
      const HuffmanEntry entry = ac_codes.Find(bits.buffer);
      bits.Consume(HuffmanBits(entry));
      const int last = k;
      k += HuffmanForward(entry);
      if (k >= 63) [[unlikely]] {
        stream = bits;
        if (k > 63) return HuffmanForward(entry) == kHuffmanEnd ? last : -1;
        put(63, HuffmanValue(entry));
        return 63;
      }
      put(k, HuffmanValue(entry));
    }
  }
}

}  // namespace recpack
