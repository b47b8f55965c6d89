// Reader of the boxes of an AVIF file (ISO/IEC 14496-12 and 23008-12): what its header says,
// without the pixels.
#pragma once

#include <optional>
#include <string_view>

#include "recpack/base/bytes.h"

namespace recpack {

// A box of a view of the file.
struct IsoBox {
  std::string_view type;  // 4 characters
  ByteView content;
  size_t offset = 0;  // of the content, in the file
};

// Goes through the boxes of a range of a file, one after another.
class IsoBoxes {
 public:
  // `offset`: where `bytes` begin in the file.
  IsoBoxes(ByteView bytes, size_t offset) : rest_(bytes), offset_(offset) {}

  // Returns the next box; none at the end. Throws Error (kCorrupt, with the offset) for a box that
  // is cut off.
  std::optional<IsoBox> Next();

  // Returns the next box of a type; none if there is no other.
  std::optional<IsoBox> Next(std::string_view type);

 private:
  ByteView rest_;
  size_t offset_;
};

// Reads big-endian numbers from a box, one after another.
class IsoNumbers {
 public:
  explicit IsoNumbers(const IsoBox& box) : box_(box) {}

  // Reads 1 to 4 bytes. Throws Error (kCorrupt) beyond the end.
  uint32_t Next(size_t bytes);

 private:
  const IsoBox& box_;
  size_t at_ = 0;
};

}  // namespace recpack
