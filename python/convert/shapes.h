// Shapes of arrays of several dimensions, which a record keeps beside their values: those of NAME
// in NAME/shape.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

#include "recpack/example/view.h"

namespace recpack::python {

inline std::string ShapeName(std::string_view name) { return std::string(name) + "/shape"; }

// Returns `values`, the feature's array of one dimension, in the shape that the record has for it;
// as it is where the record has none, or one of another size (as of encoded images).
nanobind::object InItsShape(nanobind::object values, const ExampleView& example,
                            const FeatureView& feature);

}  // namespace recpack::python
