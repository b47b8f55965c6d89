// Colour operations, bit for bit equal to Pillow 11's ImageEnhance and torchvision's adjust_hue.
#pragma once

#include "recpack/image/image.h"

namespace recpack {

// In place, for images with 1 (gray) or 3 channels. Blend with black, the mean gray, gray or the
// smoothed image: factor 0 gives that, 1 the unchanged image, above 1 extrapolates.
void AdjustBrightness(Image& image, float factor);
void AdjustContrast(Image& image, float factor);
void AdjustSaturation(Image& image, float factor);

// `scratch` is reused across calls.
void AdjustSharpness(Image& image, float factor, Image& scratch);

// Rotates the hue by a share of the colour circle, -0.5 to 0.5, in steps of 1/255. Gray stays
// unchanged.
void AdjustHue(Image& image, double turn);

}  // namespace recpack
