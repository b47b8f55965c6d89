// Finds shapes of arrays, which records keep beside the values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "recpack/example/view.h"

namespace recpack {

// Returns the name of the feature with the shape of feature `name`: NAME/shape, an integer per
// dimension. recpack_io writes it beside arrays of more than one dimension.
std::string ShapeName(std::string_view name);

// Returns the shape of the feature's values, or of its bytes if it holds one value of bytes. Empty
// if the record has no shape of two dimensions or more, or one of another size, as of encoded
// images.
std::vector<int64_t> FindShape(const ExampleView& example, const FeatureView& feature);

}  // namespace recpack
