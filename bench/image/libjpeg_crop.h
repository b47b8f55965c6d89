// libjpeg-turbo's own crop, the way its users call it.
#pragma once

// clang-format off
#include <cstdio>
#include <jpeglib.h>
// clang-format on

#include <vector>

#include "recpack/base/bytes.h"
#include "recpack/image/image.h"

namespace recpack::bench {

// How libjpeg-turbo's users crop (TensorFlow's decode_and_crop_jpeg among them): no margins, and
// its default of exiting on errors.
inline void CropByLibjpeg(ByteView jpeg, const Region& box, std::vector<uint8_t>& rows) {
  jpeg_decompress_struct info;
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, jpeg.data(), jpeg.size());
  jpeg_read_header(&info, TRUE);
  info.out_color_space = JCS_RGB;
  jpeg_start_decompress(&info);
  JDIMENSION x = static_cast<JDIMENSION>(box.x), width = static_cast<JDIMENSION>(box.width);
  jpeg_crop_scanline(&info, &x, &width);
  jpeg_skip_scanlines(&info, static_cast<JDIMENSION>(box.y));
  rows.resize(size_t{3} * width * static_cast<size_t>(box.height));
  for (int y = 0; y < box.height; ++y) {
    JSAMPROW row = rows.data() + size_t{3} * width * static_cast<size_t>(y);
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_abort_decompress(&info);
  jpeg_destroy_decompress(&info);
}

}  // namespace recpack::bench
