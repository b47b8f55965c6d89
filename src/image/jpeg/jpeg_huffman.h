// Decoder of Huffman-coded blocks of a sequential JPEG (ITU-T T.81, annex F.2.2).
//
// Irregular data is refused without a diagnosis; libjpeg then decodes the file again.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "recpack/base/bytes.h"

namespace recpack {

// Meaning of a code and the value bits after it, so that one look-up decodes both:
//   bits 0-5    size of the code and the value, in bits
//   bit 6       kHuffmanPartial: the look-up alone does not suffice
//   bit 7       kHuffmanInvalid
//   bits 8-14   coefficients to advance: run + 1; kHuffmanEnd at the end of the block
//   bits 16-31  the value, signed; for partial entries its size in bits, or kHuffmanLongCode
using HuffmanEntry = uint32_t;
constexpr HuffmanEntry kHuffmanPartial = 1 << 6;
constexpr HuffmanEntry kHuffmanInvalid = 1 << 7;
constexpr int kHuffmanEnd = 64;
constexpr int kHuffmanBeyond = 127;  // for invalid entries: advances past the end of any block
constexpr int kHuffmanLongCode = 255;

constexpr int HuffmanBits(HuffmanEntry e) { return static_cast<int>(e & 63); }
constexpr int HuffmanForward(HuffmanEntry e) { return static_cast<int>(e >> 8 & 127); }
constexpr int HuffmanValue(HuffmanEntry e) { return static_cast<int32_t>(e) >> 16; }

// Decodes a value from its `size` bits (T.81, EXTEND). Requires size > 0.
constexpr int ExtendHuffmanValue(int bits, int size) {
  return bits - ((bits >> (size - 1) ^ 1) * ((1 << size) - 1));
}

class JpegHuffmanTable {
 public:
  enum class Kind : uint8_t { kDc, kAc };

  // Builds the table of a DHT segment: counts[n] codes of n bits (counts[0] is ignored) and their
  // symbols. Returns false if the codes do not fit or a DC symbol is not allowed in baseline JPEG.
  // Fast if the table equals the one assigned last.
  bool Assign(Kind kind, const uint8_t counts[17], const uint8_t symbols[256]);

  // Returns the entry for the code at the top of `buffer`, which must have at least 32 bits of the
  // file.
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
  // Returns the entry of a code of `bits` bits, without its value.
  HuffmanEntry MakeSymbolEntry(uint8_t symbol, int bits) const noexcept;
  void FillLookup(HuffmanEntry entry, uint32_t code, int length);

  Kind kind_ = Kind::kDc;
  bool valid_ = false;
  std::array<uint8_t, 17> counts_{};
  std::array<uint8_t, 256> symbols_{};
  // Codes of n bits, left-aligned to 16 bits, are below limit_[n]; their symbol has the number
  // offset_[n] + code.
  std::array<uint32_t, 17> limit_{};
  std::array<int, 17> offset_{};
  std::array<HuffmanEntry, 1 << kLookupBits> lookup_{};
};

// Bit buffer over a stream without stuffed zeros; the next bit is the most significant one.
struct JpegBits {
  uint64_t buffer = 0;
  int count = 0;                  // valid bits; the bits below are bits of `next`, or 0
  const uint8_t* next = nullptr;  // 8 bytes must be readable

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
  // Returns the first byte of which no bit has been consumed.
  const uint8_t* position() const noexcept { return next - (count >> 3); }
};

// Maximum bytes that one block and a Refill() after it read: 27 bits of DC, 63 coefficients of 26
// bits.
constexpr int kMaxBlockBytes = (27 + 63 * 26) / 8 + 17;

// Decodes a block. Calls put(k, value) for the AC coefficients in zigzag order, possibly also for
// zeros, and adds the DC difference to `dc`. Returns the index of the last coefficient, or -1 for
// irregular data. Reads up to kMaxBlockBytes.
template <typename Put>
[[gnu::always_inline]] inline int DecodeHuffmanBlock(JpegBits& stream,
                                                     const JpegHuffmanTable& dc_codes,
                                                     const JpegHuffmanTable& ac_codes, int& dc,
                                                     Put&& put) {
  JpegBits bits = stream;  // a local copy stays in registers
  bits.Refill();
  const HuffmanEntry first = dc_codes.Find(bits.buffer);
  if (first & kHuffmanInvalid) [[unlikely]]
    return -1;
  bits.Consume(HuffmanBits(first));
  dc += HuffmanValue(first);
  int k = 0;
  while (true) {
    bits.Refill();
    // One refill suffices for two codes and their values, at most 26 bits each.
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
