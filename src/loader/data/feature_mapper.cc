#include "recpack/loader/feature_mapper.h"

#include <iterator>

#include "recpack/base/error.h"
#include "recpack/loader/feature.h"
#include "src/base/format.h"

namespace recpack {
namespace {

template <typename Names>
const FeatureView* FindAny(const ExampleView& example, const Names& names) {
  for (const auto& name : names) {
    if (const FeatureView* feature = example.Find(name)) return feature;
  }
  return nullptr;
}

std::vector<std::string> FindTargets(const std::string& target) {
  if (target == "image") return {std::begin(kImageNames), std::end(kImageNames)};
  if (target == "label") return {std::begin(kLabelNames), std::end(kLabelNames)};
  return {target};
}

}  // namespace

FeatureMapper::FeatureMapper(const FieldMap& fields, int64_t label_offset)
    : label_offset_(label_offset) {
  for (const FieldRule& rule : fields) {
    rules_.push_back(
        {FindTargets(rule.target), RuleFields(rule), rule.from, rule.target == "label"});
  }
}

void FeatureMapper::Map(ExampleView& example) const {
  bool has_label = false;
  std::vector<FeatureView> mapped;  // find all first: an alias may replace a name that is looked up
  for (const Rule& rule : rules_) {
    const FeatureView* feature = FindAny(example, rule.from);
    if (feature == nullptr) {
      throw Error(ErrorKind::kNotFound, format("has no feature {}", rule.text), {},
                  "map to features that the records have");
    }
    if (rule.is_label) {
      has_label = true;
      TakeOffset(example, *feature);
    }
    mapped.push_back(*feature);
  }
  for (size_t i = 0; i < rules_.size(); ++i) {
    for (const std::string& target : rules_[i].targets) example.Alias(mapped[i], target);
  }
  if (has_label || label_offset_ == 0) return;
  if (const FeatureView* label = FindAny(example, kLabelNames)) TakeOffset(example, *label);
}

void FeatureMapper::TakeOffset(ExampleView& example, const FeatureView& label) const {
  if (label_offset_ == 0) return;
  if (label.size() > 0 && label.kind() != FeatureKind::kInt64) {
    throw Error(ErrorKind::kUnsupported, format("{} does not hold numbers", label.name()), {},
                "map `label` to an int64 feature");
  }
  for (int64_t& value : example.MutableInt64(label)) {
    if (__builtin_sub_overflow(value, label_offset_, &value) || value < 0) {
      throw Error(ErrorKind::kCorrupt, "has a label below the label offset");
    }
  }
}

}  // namespace recpack
