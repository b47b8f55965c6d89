// Lists the features that hold a picture by their names.
#pragma once

namespace recpack::pack {

// In the order in which a picture is looked for: a record's first is its picture.
inline constexpr const char* kPictureNames[] = {
    "image/encoded", "image", "jpg", "jpeg", "png", "webp", "bmp", "gif", "avif", "tif", "tiff"};

}  // namespace recpack::pack
