// JPEG decoder based on libjpeg; does not apply the EXIF orientation.
#pragma once

#include "recpack/image/decode.h"
#include "src/image/jpeg/jpeg_session.h"

namespace recpack {

// Decodes any JPEG; SequentialJpeg is faster for common ones. `scratch` is memory for rows that
// need conversion, reused between calls.
void DecodeJpeg(JpegReader& reader, ByteView bytes, const DecodeOptions& options,
                ByteBuffer& scratch, Image& out);

// Sets up libjpeg as the options say. Call it after the header has been read; output_width and
// output_height are valid afterwards. Returns the number of channels of the result.
int SetUpJpeg(JpegReader& reader, const DecodeOptions& options);

// Converts `pixels` pixels of inverted CMYK to RGB: each of R, G, B is C' * K' / 255, rounded as in
// Pillow.
void CmykToRgb(const uint8_t* cmyk, size_t pixels, uint8_t* rgb) noexcept;

}  // namespace recpack
