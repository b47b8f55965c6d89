// Colours of a picture as Pillow 11's ImageEnhance and torchvision's adjust_hue change them, equal
// bit for bit.
#pragma once

#include "recpack/image/image.h"

namespace recpack {

// In place; pictures of 1 (gray) or 3 channels. A factor of 0 gives black, the mean gray, gray or
// smooth, 1 the picture, above 1 more than there was.
void AdjustBrightness(Image& image, float factor);
void AdjustContrast(Image& image, float factor);
void AdjustSaturation(Image& image, float factor);

// `scratch` is used again from call to call.
void AdjustSharpness(Image& image, float factor, Image& scratch);

// Turns the hue by a share of the colour circle, -0.5 to 0.5, in steps of 1/255. Gray stays.
void AdjustHue(Image& image, double turn);

}  // namespace recpack
