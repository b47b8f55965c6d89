#include "recpack/loader/feature.h"

#include <algorithm>
#include <iterator>

#include "recpack/base/error.h"
#include "recpack/base/text.h"
#include "src/base/format.h"
#include "src/pack/item/picture_names.h"

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

const FeatureView* FindPicture(const ExampleView& example) noexcept {
  for (const char* name : pack::kPictureNames) {
    if (const FeatureView* feature = example.Find(name)) return feature;
  }
  return nullptr;
}

const FeatureView& RequireFeature(const ExampleView& example, const std::string& feature) {
  if (const FeatureView* found = example.Find(feature)) return *found;
  if (const FeatureView* found = FindOther(example, feature, kImageNames)) return *found;
  if (const FeatureView* found = FindOther(example, feature, kLabelNames)) return *found;
  throw Error(ErrorKind::kInvalidArgument, format("the record has no feature '{}'", feature), {},
              "it has: " + JoinNames(example, &FeatureView::name));
}

}  // namespace recpack
