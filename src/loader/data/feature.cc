#include "recpack/loader/feature.h"

#include <algorithm>
#include <iterator>

#include "recpack/base/error.h"
#include "recpack/base/text.h"
#include "src/base/format.h"
#include "src/pack/item/usual_names.h"

namespace recpack {
namespace {

template <size_t N>
const FeatureView* FindFirst(const ExampleView& example, const char* const (&names)[N]) noexcept {
  for (const char* name : names) {
    if (const FeatureView* feature = example.Find(name)) return feature;
  }
  return nullptr;
}

template <size_t N>
const FeatureView* FindOther(const ExampleView& example, const std::string& name,
                             const char* const (&names)[N]) {
  if (std::ranges::find(names, name) == std::end(names)) return nullptr;
  return FindFirst(example, names);
}

}  // namespace

const FeatureView* FindPicture(const ExampleView& example) noexcept {
  return FindFirst(example, pack::kPictureNames);
}

const FeatureView* FindSound(const ExampleView& example) noexcept {
  return FindFirst(example, pack::kSoundNames);
}

const FeatureView* FindFeature(const ExampleView& example, const std::string& feature) {
  if (const FeatureView* found = example.Find(feature)) return found;
  if (const FeatureView* found = FindOther(example, feature, kImageNames)) return found;
  if (const FeatureView* found = FindOther(example, feature, kAudioNames)) return found;
  return FindOther(example, feature, kLabelNames);
}

const FeatureView& RequireFeature(const ExampleView& example, const std::string& feature) {
  if (const FeatureView* found = FindFeature(example, feature)) return *found;
  throw Error(ErrorKind::kInvalidArgument, format("the record has no feature '{}'", feature), {},
              "it has: " + JoinNames(example, &FeatureView::name));
}

}  // namespace recpack
