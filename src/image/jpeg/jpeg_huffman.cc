#include "src/image/jpeg/jpeg_huffman.h"

#include <algorithm>

namespace recpack {
namespace {

// Limit for baseline JPEG with 8 bits per sample (T.81, tables F.1 and F.2).
constexpr int kMaxDcBits = 11;
constexpr int kMaxAcBits = 10;

constexpr HuffmanEntry MakeEntry(int bits, int forward, int value, HuffmanEntry flags = 0) {
  return static_cast<uint32_t>(bits) | flags | static_cast<uint32_t>(forward) << 8 |
         static_cast<uint32_t>(value) << 16;
}
constexpr HuffmanEntry kInvalid = MakeEntry(0, kHuffmanBeyond, 0, kHuffmanInvalid);
constexpr HuffmanEntry kLongCode = MakeEntry(0, 0, kHuffmanLongCode, kHuffmanPartial);

// Adds to an entry the value of the `size` bits that follow its code in `buffer`.
HuffmanEntry WithValue(HuffmanEntry entry, int size, uint64_t buffer) {
  const int code_bits = HuffmanBits(entry);
  const int bits = static_cast<int>(buffer << code_bits >> (64 - size));
  return MakeEntry(code_bits + size, HuffmanForward(entry), ExtendHuffmanValue(bits, size));
}

}  // namespace

// Returns a partial entry if the symbol has a value.
HuffmanEntry JpegHuffmanTable::MakeSymbolEntry(uint8_t symbol, int bits) const noexcept {
  if (kind_ == Kind::kDc) {
    return symbol == 0 ? MakeEntry(bits, 0, 0) : MakeEntry(bits, 0, symbol, kHuffmanPartial);
  }
  const int size = symbol & 15, run = symbol >> 4;
  if (size > kMaxAcBits) return kInvalid;
  if (size > 0) return MakeEntry(bits, run + 1, size, kHuffmanPartial);
  // Symbols without a meaning in baseline JPEG end the block, as in libjpeg.
  return MakeEntry(bits, run == 15 ? 16 : kHuffmanEnd, 0);
}

void JpegHuffmanTable::FillLookup(HuffmanEntry entry, uint32_t code, int length) {
  HuffmanEntry* to = &lookup_[code << (kLookupBits - length)];
  const int size = HuffmanValue(entry);
  const int spare = kLookupBits - length - size;
  if ((entry & kHuffmanPartial) == 0 || spare < 0) {
    std::fill_n(to, size_t{1} << (kLookupBits - length), entry);
    return;
  }
  for (int bits = 0; bits < 1 << size; ++bits, to += size_t{1} << spare) {
    std::fill_n(to, size_t{1} << spare,
                MakeEntry(length + size, HuffmanForward(entry), ExtendHuffmanValue(bits, size)));
  }
}

bool JpegHuffmanTable::Assign(Kind kind, const uint8_t counts[17], const uint8_t symbols[256]) {
  int total = 0;
  for (int length = 1; length <= 16; ++length) total += counts[length];
  if (total > 256) return false;
  if (valid_ && kind == kind_ && std::equal(counts + 1, counts + 17, counts_.begin() + 1) &&
      std::equal(symbols, symbols + total, symbols_.begin())) {
    return true;
  }
  valid_ = false;
  kind_ = kind;
  std::copy_n(counts, 17, counts_.begin());
  std::copy_n(symbols, total, symbols_.begin());
  lookup_.fill(kInvalid);
  uint32_t code = 0;
  int symbol = 0;
  for (int length = 1; length <= 16; ++length, code <<= 1) {
    offset_[length] = symbol - static_cast<int>(code);
    if (code + counts[length] > 1u << length) return false;
    for (int i = 0; i < counts[length]; ++i, ++code, ++symbol) {
      if (kind == Kind::kDc && symbols_[symbol] > kMaxDcBits) return false;
      if (length <= kLookupBits) {
        FillLookup(MakeSymbolEntry(symbols_[symbol], length), code, length);
      } else {
        lookup_[code >> (length - kLookupBits)] = kLongCode;
      }
    }
    limit_[length] = code << (16 - length);
  }
  valid_ = true;
  return true;
}

HuffmanEntry JpegHuffmanTable::Complete(HuffmanEntry entry, uint64_t buffer) const noexcept {
  if (HuffmanValue(entry) == kHuffmanLongCode) {
    const uint32_t top = static_cast<uint32_t>(buffer >> 48);
    int length = kLookupBits + 1;
    while (length <= 16 && top >= limit_[length]) ++length;
    if (length > 16) return kInvalid;
    const int code = static_cast<int>(top >> (16 - length));
    entry = MakeSymbolEntry(symbols_[offset_[length] + code], length);
    if ((entry & kHuffmanPartial) == 0) return entry;
  }
  return WithValue(entry, HuffmanValue(entry), buffer);
}

}  // namespace recpack
