#include "src/image/jpeg/exif.h"

#include "src/image/tiff/tiff_directory.h"

namespace recpack {

int ExifOrientation(ByteView tiff) noexcept {
  const std::optional<TiffDirectory> directory = TiffDirectory::Find(tiff);
  return directory ? directory->Orientation() : 1;
}

}  // namespace recpack
