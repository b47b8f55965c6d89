// Reader of the first directory of a TIFF structure: a file, or the EXIF of another format.
#pragma once

#include <cstdint>
#include <optional>

#include "recpack/base/bytes.h"

namespace recpack {

// Keeps a view of the bytes.
class TiffDirectory {
 public:
  // Finds the directory. Empty if the bytes do not begin as TIFF or BigTIFF, or end before the
  // directory begins.
  static std::optional<TiffDirectory> Find(ByteView tiff) noexcept;

  // False if the bytes end before the directory does: damaged EXIF, whose first entries still
  // count.
  bool complete() const noexcept { return complete_; }

  bool Has(uint16_t tag) const noexcept { return FindEntry(tag) != 0; }

  // Returns the first value of a tag whose values are 16 or 32-bit integers (of BigTIFF, also
  // 64-bit ones), if it is there.
  std::optional<uint64_t> Number(uint16_t tag) const noexcept;

  // Returns EXIF's orientation (1..8); 1 if there is none, or an invalid one.
  int Orientation() const noexcept;

 private:
  TiffDirectory(ByteView bytes, bool little, bool big)
      : bytes_(bytes), little_(little), big_(big) {}

  uint64_t Read(size_t at, size_t width) const noexcept;
  bool FindEntries() noexcept;
  size_t FindEntry(uint16_t tag) const noexcept;  // its offset; 0 if there is none

  ByteView bytes_;
  bool little_, big_;
  size_t first_ = 0;  // entry's offset
  size_t entries_ = 0;
  bool complete_ = false;
};

}  // namespace recpack
