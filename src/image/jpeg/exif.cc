#include "src/image/jpeg/exif.h"

namespace recpack {
namespace {

constexpr uint32_t kOrientationTag = 0x0112;
constexpr uint32_t kShort = 3;
constexpr size_t kEntryBytes = 12;

// Reads numbers in the byte order that the structure declares.
class TiffReader {
 public:
  explicit TiffReader(ByteView bytes) : bytes_(bytes), little_(bytes[0] == 'I') {}

  uint32_t Read(size_t at, size_t width) const noexcept {
    uint32_t value = 0;
    for (size_t i = 0; i < width; ++i) {
      value = value << 8 | bytes_[little_ ? at + width - 1 - i : at + i];
    }
    return value;
  }

 private:
  ByteView bytes_;
  bool little_;
};

}  // namespace

int ExifOrientation(ByteView tiff) noexcept {
  if (tiff.size() < 8 || (tiff[0] != 'I' && tiff[0] != 'M') || tiff[1] != tiff[0]) return 1;
  const TiffReader reader(tiff);
  const size_t directory = reader.Read(4, 4);
  if (directory > tiff.size() - 2) return 1;
  const size_t entries = reader.Read(directory, 2);
  for (size_t i = 0; i < entries; ++i) {
    const size_t entry = directory + 2 + i * kEntryBytes;
    if (entry + kEntryBytes > tiff.size()) return 1;
    if (reader.Read(entry, 2) != kOrientationTag || reader.Read(entry + 2, 2) != kShort) continue;
    const uint32_t value = reader.Read(entry + 8, 2);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

}  // namespace recpack
