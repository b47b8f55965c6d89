// Checks of decoders and encoders, and what damage leaves. Checks throw Error, kInvalidArgument
// unless they say otherwise.
#pragma once

#include <cstdint>

#include "recpack/image/decode.h"
#include "recpack/image/image.h"

namespace recpack {

// Value of the pixels that a damaged file lacks.
inline constexpr uint8_t kGrey = 128;

// The region must not be empty and must lie inside the image.
void CheckRegion(const Region& region, int64_t image_width, int64_t image_height);

// libjpeg scales by 1/1, 1/2, 1/4 and 1/8.
void CheckScale(const DecodeOptions& options);

// Throws Error (kCorrupt) for a file with fewer bytes than its header has. `format_name`: as in
// messages, such as "GIF".
void CheckHeaderBytes(ByteView bytes, size_t needed, const char* format_name);

// Throws Error (kUnsupported): the image has no 16 bits of gray a pixel, which PixelLayout::kOne16
// wants.
[[noreturn]] void RefuseNotWideGray();

// Throws Error (kUnsupported) for an image of more pixels.
void CheckPixels(uint64_t width, uint64_t height, uint64_t max_pixels);

// The image must be whole and have 1 or 3 channels.
void CheckEncodable(const Image& image);

}  // namespace recpack
