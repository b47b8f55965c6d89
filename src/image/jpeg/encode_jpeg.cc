#include "recpack/base/error.h"
#include "recpack/image/encode.h"
#include "src/base/format.h"
#include "src/image/checks.h"
#include "src/image/jpeg/jpeg_session.h"

namespace recpack {
namespace {

void SetParameters(jpeg_compress_struct& info, const Image& image,
                   const JpegEncodeOptions& options) {
  info.image_width = static_cast<JDIMENSION>(image.width);
  info.image_height = static_cast<JDIMENSION>(image.height);
  info.input_components = image.channels;
  info.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, options.quality, TRUE);
  info.optimize_coding = TRUE;
  if (!options.subsample_chroma) {
    info.comp_info[0].h_samp_factor = info.comp_info[0].v_samp_factor = 1;
  }
}

}  // namespace

ByteBuffer EncodeJpeg(const Image& image, const JpegEncodeOptions& options) {
  CheckEncodable(image);
  if (options.quality < 1 || options.quality > 100) {
    throw Error(ErrorKind::kInvalidArgument,
                format("a JPEG quality of {} is not in 1 to 100", options.quality));
  }
  JpegWriter writer;
  writer.Open(image.pixels.size() / 4);
  jpeg_compress_struct& info = writer.info();
  writer.Run([&] {
    SetParameters(info, image, options);
    jpeg_start_compress(&info, TRUE);
    for (int y = 0; y < image.height; ++y) {
      JSAMPROW row = const_cast<JSAMPROW>(image.row(y));
      jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
  });
  return writer.TakeFile();
}

}  // namespace recpack
