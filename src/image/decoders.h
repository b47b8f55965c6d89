// The decoder of each format. Both leave the orientation alone.
#pragma once

#include "recpack/image/decode.h"
#include "src/image/jpeg_session.h"

namespace recpack {

// `scratch` is kept between calls for rows that need conversion.
void DecodeJpeg(JpegReader& reader, ByteView bytes, const DecodeOptions& options,
                ByteBuffer& scratch, Image& out);

// Chooses the colours that libjpeg puts out, after the header was read, and returns the channels
// that our pixels will have.
int ChooseJpegColours(jpeg_decompress_struct& info, PixelLayout layout);

// `pixels` pixels of inverted CMYK to RGB: each of R, G, B is C' * K' / 255, rounded as Pillow
// does.
void CmykToRgb(const uint8_t* cmyk, size_t pixels, uint8_t* rgb) noexcept;

void DecodePng(ByteView bytes, const DecodeOptions& options, Image& out);

}  // namespace recpack
