// Mutator for JPEGs and PNGs that keeps files plausible beyond their first bytes.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "recpack/base/bytes.h"
#include "recpack/base/random.h"

namespace recpack {

inline constexpr size_t kPngStart = 8;  // end of the signature, start of the chunks

inline bool IsPng(const ByteBuffer& file) { return file.size() > 1 && file[1] == 'P'; }

inline uint32_t BigEndian(const uint8_t* at) {
  return uint32_t{at[0]} << 24 | uint32_t{at[1]} << 16 | uint32_t{at[2]} << 8 | at[3];
}

// Returns the offsets of a PNG's chunks.
inline std::vector<size_t> Chunks(const ByteBuffer& png) {
  std::vector<size_t> starts;
  for (size_t at = kPngStart; at + 12 <= png.size(); at += 12 + BigEndian(&png[at])) {
    starts.push_back(at);
    if (BigEndian(&png[at]) > png.size()) break;
  }
  return starts;
}

// Returns the offsets of a JPEG's markers, including restart markers.
inline std::vector<size_t> Markers(const ByteBuffer& jpeg) {
  std::vector<size_t> starts;
  for (size_t at = 0; at + 1 < jpeg.size(); ++at) {
    if (jpeg[at] == 0xFF && jpeg[at + 1] != 0 && jpeg[at + 1] != 0xFF) starts.push_back(at);
  }
  return starts;
}

// Returns at least two offsets at which parts of the file begin.
inline std::vector<size_t> Parts(const ByteBuffer& file) {
  std::vector<size_t> starts = IsPng(file) ? Chunks(file) : Markers(file);
  starts.push_back(file.size());
  if (starts.size() < 2) starts.insert(starts.begin(), 0);
  return starts;
}

// Corrects the checksums, so that mutations are not refused because of them.
inline void RepairChecksums(ByteBuffer& png) {
  for (const size_t at : Chunks(png)) {
    const size_t size = BigEndian(&png[at]);
    if (size > png.size() || at + 12 + size > png.size()) return;
    const auto crc = static_cast<uint32_t>(crc32(0, &png[at + 4], static_cast<uInt>(size) + 4));
    for (int i = 0; i < 4; ++i) png[at + 8 + size + i] = static_cast<uint8_t>(crc >> (24 - 8 * i));
  }
}

// Mutation of a file; a pure function of its number.
class Mutator {
 public:
  explicit Mutator(uint64_t number) : random_(17, 0, number) {}

  // `other`: file whose parts may be inserted.
  void operator()(ByteBuffer& file, const ByteBuffer& other) {
    const bool png = IsPng(file);
    switch (random_.NextBelow(6)) {
      case 0:
        return Flip(file);
      case 1:
        return file.resize(Place(file));
      case 2:
        return Splice(file, other);
      case 3:
        ChangeHeadOfPart(file);
        break;
      case 4:
        Zero(file);
        break;
      default:
        MovePart(file);
        break;
    }
    if (png && random_.NextBelow(4) > 0) RepairChecksums(file);
  }

 private:
  size_t Place(const ByteBuffer& file) {
    return random_.NextBelow(static_cast<uint32_t>(file.size()));
  }

  void Flip(ByteBuffer& file) {
    for (uint32_t flips = 1 + random_.NextBelow(8); flips > 0; --flips) {
      file[Place(file)] ^= static_cast<uint8_t>(1 << random_.NextBelow(8));
    }
    if (IsPng(file)) RepairChecksums(file);
  }

  void Zero(ByteBuffer& file) {
    const size_t first = Place(file);
    const size_t count = 1 + random_.NextBelow(64);
    std::fill_n(&file[first], std::min(count, file.size() - first), 0);
  }

  // Returns a part of the file and the one after it.
  std::pair<size_t, size_t> Part(const ByteBuffer& file) {
    const std::vector<size_t> starts = Parts(file);
    const size_t i = random_.NextBelow(static_cast<uint32_t>(starts.size()) - 1);
    return {starts[i], std::min(starts[i + 1], file.size())};
  }

  // Changes its type, its length or its contents.
  void ChangeHeadOfPart(ByteBuffer& file) {
    const size_t at = Part(file).first + random_.NextBelow(IsPng(file) ? 12 : 6);
    if (at >= file.size()) return;
    constexpr uint8_t kValues[] = {0x00, 0xFF, 0xC0, 0xC2, 0xC4, 0xD0, 0xD9, 0xDA, 0xDB, 0x7F};
    file[at] = random_.NextBelow(2) == 0 ? kValues[random_.NextBelow(std::size(kValues))]
                                         : static_cast<uint8_t>(random_.NextU32());
  }

  // Replaces a part by one of `other`, or inserts that before it.
  void Splice(ByteBuffer& file, const ByteBuffer& other) {
    const auto [first, end] = Part(other);
    const ByteBuffer part(other.begin() + Signed(first), other.begin() + Signed(end));
    const auto [to, to_end] = Part(file);
    if (random_.NextBelow(2) == 0) {
      file.erase(file.begin() + Signed(to), file.begin() + Signed(to_end));
    }
    file.insert(file.begin() + Signed(to), part.begin(), part.end());
  }

  // Removes a part, or duplicates it in another place.
  void MovePart(ByteBuffer& file) {
    if (random_.NextBelow(2) == 0) return Splice(file, ByteBuffer(file));
    const auto [first, end] = Part(file);
    file.erase(file.begin() + Signed(first), file.begin() + Signed(end));
  }

  static std::ptrdiff_t Signed(size_t at) { return static_cast<std::ptrdiff_t>(at); }

  KeyedRandom random_;
};

}  // namespace recpack
