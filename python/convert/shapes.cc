#include "python/convert/shapes.h"

#include <vector>

#include "recpack/example/shape.h"

namespace recpack::python {
namespace nb = nanobind;

nb::object InItsShape(nb::object values, const ExampleView& example, const FeatureView& feature) {
  const std::vector<int64_t> extents = FindShape(example, feature);
  if (extents.empty()) return values;
  nb::list shape;
  for (const int64_t extent : extents) shape.append(extent);
  return values.attr("reshape")(nb::tuple(shape));
}

}  // namespace recpack::python
