// Rows that SequentialJpeg puts out: pixels with upsampled chroma, or samples of planes.
#include <algorithm>

#include "src/image/jpeg/jpeg_sequential.h"

namespace recpack {

// Replicates the edge samples beside the image.
void SequentialJpeg::PadRows(int mcu_row) {
  if (mcu_width_ == kBlockSide) return;
  for (int i = 1; i < component_count_; ++i) {
    Component& c = components_[i];
    for (int y = mcu_row * kBlockSide; y < (mcu_row + 1) * kBlockSide; ++y) {
      if (c.columns.first == 0) *c.At(-1, y) = *c.At(0, y);
      if (c.columns.end * kBlockSide >= c.width) *c.At(c.width, y) = *c.At(c.width - 1, y);
    }
  }
}

void SequentialJpeg::PutOut(int first, int end, Image& out) {
  for (int y = first; y < end; ++y) {
    const uint8_t* samples = components_[0].At(region_.x, region_.y + y);
    if (out.channels == 1) {
      std::copy_n(samples, region_.width, out.row(y));
    } else {
      PutOutRgb(samples, region_.y + y, out.row(y));
    }
  }
}

void SequentialJpeg::PutOutRgb(const uint8_t* first, int y, uint8_t* rgb) {
  const uint8_t* samples[3] = {first, first, first};
  if (component_count_ == 3) {
    samples[1] = ChromaRow(1, y);
    samples[2] = ChromaRow(2, y);
  }
  if (is_ycc_) {
    kernels_->to_rgb(samples[0], samples[1], samples[2], region_.width, rgb);
    return;
  }
  for (int x = 0; x < region_.width; ++x, rgb += 3) {
    for (int c = 0; c < 3; ++c) rgb[c] = samples[c][x];
  }
}

void SequentialJpeg::PutOutPlanes(int first, int end, JpegPlanes& planes) {
  for (int i = 0; i < 3; ++i) {
    const int step_x = i == 0 ? 1 : planes.step_x, step_y = i == 0 ? 1 : planes.step_y;
    Image& plane = planes.samples[i];
    for (int row = first; row < end; ++row) {
      const int y = region_.y + row;
      if (row > 0 && y % step_y != 0) continue;
      const uint8_t* samples = components_[i].At(region_.x / step_x, y / step_y);
      std::copy_n(samples, plane.width, plane.row(y / step_y - region_.y / step_y));
    }
  }
}

// Returns the region's samples of image row `y`, smoothly upsampled.
const uint8_t* SequentialJpeg::ChromaRow(int component, int y) {
  Component& c = components_[component];
  if (mcu_width_ == kBlockSide) return c.At(region_.x, y);
  uint8_t* wide = wide_[component - 1].data();
  const int x = region_.x / 2, count = (region_.x + region_.width - 1) / 2 + 1 - x;
  if (mcu_height_ == kBlockSide) {
    kernels_->widen(c.At(x, y), count, wide);
  } else {
    const int far = std::clamp(y % 2 == 0 ? y / 2 - 1 : y / 2 + 1, 0, c.height - 1);
    kernels_->widen_between(c.At(x, y / 2), c.At(x, far), count, wide);
  }
  return wide + region_.x % 2;
}

}  // namespace recpack
