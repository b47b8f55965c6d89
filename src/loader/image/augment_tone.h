// Tone operations by lookup tables, bit for bit equal to Pillow 11's ImageOps.
#pragma once

#include "recpack/image/image.h"

namespace recpack {

// In place; each channel by itself.
void Posterize(Image& image, int bits);         // keeps the `bits` highest bits, 0 to 8
void Solarize(Image& image, double threshold);  // inverts values >= threshold
void AutoContrast(Image& image);                // stretches the range to 0..255
void Equalize(Image& image);                    // flattens the histogram

}  // namespace recpack
