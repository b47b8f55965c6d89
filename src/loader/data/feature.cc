#include "recpack/loader/feature.h"

#include <algorithm>
#include <iterator>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack {
namespace {

template <size_t N>
const FeatureView* FindOther(const ExampleView& example, const std::string& name,
                             const char* const (&names)[N]) {
  if (std::ranges::find(names, name) == std::end(names)) return nullptr;
  for (const char* other : names) {
    if (const FeatureView* feature = example.Find(other)) return feature;
  }
  return nullptr;
}

}  // namespace

const FeatureView& RequireFeature(const ExampleView& example, const std::string& feature) {
  if (const FeatureView* found = example.Find(feature)) return *found;
  if (const FeatureView* found = FindOther(example, feature, kImageNames)) return *found;
  if (const FeatureView* found = FindOther(example, feature, kLabelNames)) return *found;
  std::string names;
  for (const auto& there : example)
    names += (names.empty() ? "" : ", ") + std::string(there.name());
  throw Error(ErrorKind::kInvalidArgument, format("the record has no feature '{}'", feature), {},
              "it has: " + names);
}

}  // namespace recpack
