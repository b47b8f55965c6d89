// Values of a picture by tables, as Pillow 11's ImageOps makes them, equal bit for bit.
#pragma once

#include "recpack/image/image.h"

namespace recpack {

// In place; any channels, each by itself.
void Posterize(Image& image, int bits);         // keeps the highest bits, 0 to 8
void Solarize(Image& image, double threshold);  // inverts values from it on
void AutoContrast(Image& image);                // stretches the least and most to 0 and 255
void Equalize(Image& image);                    // flattens the histogram

}  // namespace recpack
