#include <algorithm>

#include "recpack/image/decode.h"

namespace recpack {
namespace {

// Operations that make stored pixels upright: transpose first, then mirror.
struct Turn {
  bool transpose, mirror_x, mirror_y;
};

// Operations for values 1 to 8 of EXIF 2.3, tag 0x0112.
constexpr Turn kTurns[9] = {
    {false, false, false}, {false, false, false}, {false, true, false},
    {false, true, true},   {false, false, true},  {true, false, false},
    {true, true, false},   {true, true, true},    {true, false, true},
};

const Turn& FindTurn(int orientation) {
  return kTurns[orientation < 1 || orientation > 8 ? 1 : orientation];
}

}  // namespace

ImageSize SeenSize(ImageSize stored, int orientation) {
  if (!FindTurn(orientation).transpose) return stored;
  return {stored.height, stored.width};
}

Region StoredRegion(const Region& seen, ImageSize stored, int orientation) {
  const Turn turn = FindTurn(orientation);
  const ImageSize size = SeenSize(stored, orientation);
  Region region = seen;
  if (turn.mirror_x) region.x = size.width - seen.x - seen.width;
  if (turn.mirror_y) region.y = size.height - seen.y - seen.height;
  if (!turn.transpose) return region;
  return {region.y, region.x, region.height, region.width};
}

Image ApplyOrientation(Image image, int orientation) {
  if (orientation < 2 || orientation > 8) return image;
  const Turn turn = FindTurn(orientation);
  const ImageSize size = SeenSize({image.width, image.height}, orientation);
  Image out;
  out.Reshape(size.width, size.height, image.channels);
  for (int y = 0; y < out.height; ++y) {
    const int ty = turn.mirror_y ? out.height - 1 - y : y;
    for (int x = 0; x < out.width; ++x) {
      const int tx = turn.mirror_x ? out.width - 1 - x : x;
      const uint8_t* from = image.row(turn.transpose ? tx : ty) +
                            static_cast<ptrdiff_t>(turn.transpose ? ty : tx) * image.channels;
      std::copy_n(from, image.channels, out.row(y) + static_cast<ptrdiff_t>(x) * image.channels);
    }
  }
  return out;
}

}  // namespace recpack
