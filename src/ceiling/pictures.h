// Pictures to measure decoders with, where there are no others.
#pragma once

#include <span>
#include <vector>

#include "recpack/base/bytes.h"
#include "recpack/image/image.h"

namespace recpack::ceiling {

// JPEGs of noise whose strength falls with its frequency, as that of photographs does (van der
// Schaaf and van Hateren, 1996), 4:2:0. The bytes are a function of the arguments and
// libjpeg-turbo's version.
std::vector<ByteBuffer> NoisePictures(size_t count, ImageSize size, int quality);

// As `recpack pack --resize` stores them: those whose shorter side is longer than `shorter`,
// resized to that; the others as they are. Throws Error as ImageDecoder does.
std::vector<ByteBuffer> ResizedPictures(std::span<const ByteView> pictures, int shorter,
                                        int quality = 90);

// Pixels of all of them together, by their headers.
double PixelsOf(std::span<const ByteView> pictures);

}  // namespace recpack::ceiling
