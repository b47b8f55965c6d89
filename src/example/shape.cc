#include "recpack/example/shape.h"

#include <algorithm>

namespace recpack {
namespace {

// More are not in a record, and the product of two does not overflow.
constexpr int64_t kMostValues = int64_t{1} << 31;

}  // namespace

std::string ShapeName(std::string_view name) { return std::string(name) + "/shape"; }

std::vector<int64_t> FindShape(const ExampleView& example, const FeatureView& feature) {
  const FeatureView* const found = example.Find(ShapeName(feature.name()));
  if (found == nullptr || found->kind() != FeatureKind::kInt64 || found->size() < 2) return {};
  const bool is_bytes = feature.kind() == FeatureKind::kBytes;
  if (is_bytes && feature.size() != 1) return {};
  const size_t size = is_bytes ? feature.bytes_values()[0].size() : feature.size();
  int64_t product = 1;
  for (const int64_t extent : found->int64_values()) {
    if (extent < 0 || std::max(extent, product) > kMostValues) return {};
    product *= extent;
  }
  if (static_cast<size_t>(product) != size) return {};
  const auto extents = found->int64_values();
  return {extents.begin(), extents.end()};
}

}  // namespace recpack
