#include <algorithm>

#include "recpack/image/decode.h"

namespace recpack {
namespace {

// What to do to stored pixels so that they are seen upright: transpose first, then mirror.
struct Turn {
  bool transpose, mirror_x, mirror_y;
};

// EXIF 2.3, tag 0x0112: values 1 to 8.
constexpr Turn kTurns[9] = {
    {false, false, false}, {false, false, false}, {false, true, false},
    {false, true, true},   {false, false, true},  {true, false, false},
    {true, true, false},   {true, true, true},    {true, false, true},
};

}  // namespace

Image ApplyOrientation(Image image, int orientation) {
  if (orientation < 2 || orientation > 8) return image;
  const Turn turn = kTurns[orientation];
  Image out;
  out.Reshape(turn.transpose ? image.height : image.width,
              turn.transpose ? image.width : image.height, image.channels);
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
