// Decodes any JPEG by libjpeg, without turning it by its EXIF orientation.
#pragma once

#include "recpack/image/decode.h"
#include "src/image/jpeg/jpeg_session.h"

namespace recpack {

// Any JPEG, by libjpeg; SequentialJpeg is faster for the usual ones. `scratch` is kept between
// calls for rows that need conversion.
void DecodeJpeg(JpegReader& reader, ByteView bytes, const DecodeOptions& options,
                ByteBuffer& scratch, Image& out);

// Sets libjpeg up as the options say, after the header was read: output_width and output_height are
// then known. Returns the channels that our pixels will have.
int SetUpJpeg(JpegReader& reader, const DecodeOptions& options);

// `pixels` pixels of inverted CMYK to RGB: each of R, G, B is C' * K' / 255, rounded as Pillow
// does.
void CmykToRgb(const uint8_t* cmyk, size_t pixels, uint8_t* rgb) noexcept;

}  // namespace recpack
