// Finds images that records hold as arrays of pixels, with their shapes.
#pragma once

#include <optional>

#include "recpack/example/view.h"
#include "recpack/image/image.h"

namespace recpack::pack {

// Returns the pixels of a feature of bytes for which the record has a shape (FindShape()) of
// (height, width) or (height, width, channels) with 1, 3 or 4 channels. They lie in the record.
std::optional<PixelView> FindPixels(const ExampleView& example, const FeatureView& feature);

}  // namespace recpack::pack
