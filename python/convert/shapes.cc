#include "python/convert/shapes.h"

#include <utility>

namespace recpack::python {
namespace nb = nanobind;

nb::object InItsShape(nb::object values, const ExampleView& example, const FeatureView& feature) {
  const FeatureView* const found = example.Find(ShapeName(feature.name()));
  if (found == nullptr || found->kind() != FeatureKind::kInt64 || found->size() < 2) return values;
  const bool is_bytes = feature.kind() == FeatureKind::kBytes;
  if (is_bytes && feature.size() != 1) return values;
  const size_t size = is_bytes ? feature.bytes_values()[0].size() : feature.size();
  size_t product = 1;
  nb::list shape;
  for (const int64_t extent : found->int64_values()) {
    constexpr size_t kMost = size_t{1}
                             << 31;  // of values in a record, and so that no product overflows
    if (extent < 0 || static_cast<size_t>(extent) > kMost || product > kMost) return values;
    product *= static_cast<size_t>(extent);
    shape.append(extent);
  }
  if (product != size) return values;
  return values.attr("reshape")(nb::tuple(shape));
}

}  // namespace recpack::python
