#include "src/image/jpeg/exif.h"

#include "src/image/tiff/tiff_directory.h"
#include "src/image/tiff/tiff_tags.h"

namespace recpack {

int ExifOrientation(ByteView tiff) noexcept {
  const std::optional<TiffDirectory> directory = TiffDirectory::Find(tiff);
  const uint64_t value = directory ? directory->Number(tiff::kOrientation).value_or(1) : 1;
  return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
}

}  // namespace recpack
