// Gives arrays of several dimensions their shapes, which a record keeps beside their values.
#pragma once

#include <nanobind/nanobind.h>

#include "recpack/example/view.h"

namespace recpack::python {

// Returns `values`, the feature's array of one dimension, in the shape that the record has for it;
// as it is where the record has none, or one of another size (as of encoded images).
nanobind::object InItsShape(nanobind::object values, const ExampleView& example,
                            const FeatureView& feature);

}  // namespace recpack::python
