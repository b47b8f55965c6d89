// Test images for measuring decoders.
#pragma once

#include <span>
#include <vector>

#include "recpack/base/bytes.h"
#include "recpack/image/image.h"

namespace recpack::ceiling {

// Makes 4:2:0 JPEGs of noise whose amplitude falls with frequency, as in photographs (van der
// Schaaf and van Hateren, 1996). The bytes depend only on the arguments and libjpeg-turbo's
// version.
std::vector<ByteBuffer> NoisePictures(size_t count, ImageSize size, int quality);

// Resizes images as `recpack pack --resize` does: those whose shorter side is longer than `shorter`
// are resized to that; others are not changed. Throws Error as ImageDecoder does.
std::vector<ByteBuffer> ResizedPictures(std::span<const ByteView> pictures, int shorter,
                                        int quality = 90);

// Returns the total number of pixels, from the headers.
double CountPixels(std::span<const ByteView> pictures);

}  // namespace recpack::ceiling
