#include "recpack/image/channels.h"

#include <algorithm>

namespace recpack {

void ConvertChannels(const PixelView& from, int channels, Image& out) {
  out.Reshape(from.width, from.height, channels);
  for (int y = 0; y < from.height; ++y) {
    const uint8_t* pixel = from.row(y);
    uint8_t* to = out.row(y);
    for (int x = 0; x < from.width; ++x, pixel += from.channels, to += channels) {
      if (from.channels == 1) {
        std::fill_n(to, channels, *pixel);
      } else if (channels == 1) {
        *to = Luma(pixel);
      } else {
        std::copy_n(pixel, 3, to);
      }
    }
  }
}

}  // namespace recpack
