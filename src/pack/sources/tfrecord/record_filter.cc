#include "src/pack/sources/tfrecord/record_filter.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/pack/item/field_values.h"

namespace recpack::pack {

RecordFilter::RecordFilter(const std::vector<std::string>& conditions) {
  for (const std::string& condition : conditions) conditions_.push_back(Read(condition));
}

RecordFilter::Condition RecordFilter::Read(std::string_view text) {
  const size_t equals = text.find('=');
  const bool negated = equals != std::string_view::npos && equals > 0 && text[equals - 1] == '!';
  const std::string_view feature = text.substr(0, negated ? equals - 1 : equals);
  if (equals == std::string_view::npos || feature.empty()) {
    throw Error(ErrorKind::kInvalidArgument, format("not a filter: '{}'", text), {},
                "write it as FEATURE=VALUE or FEATURE!=VALUE");
  }
  const std::string_view value = text.substr(equals + 1);
  return {.feature = std::string(feature),
          .text = std::string(value),
          .whole = ParseInt64(value),
          .number = ParseFloat(value),
          .negated = negated};
}

bool RecordFilter::HasValue(const FeatureView& feature, const Condition& condition) {
  switch (feature.kind()) {
    case FeatureKind::kBytes:
      return std::ranges::any_of(feature.bytes_values(),
                                 [&](ByteView value) { return AsText(value) == condition.text; });
    case FeatureKind::kInt64:
      return condition.whole && std::ranges::count(feature.int64_values(), *condition.whole) > 0;
    case FeatureKind::kFloat:
      return condition.number && std::ranges::count(feature.float_values(), *condition.number) > 0;
    case FeatureKind::kNone:
      break;
  }
  return false;
}

bool RecordFilter::Keeps(const ExampleView& example) const {
  return std::ranges::all_of(conditions_, [&](const Condition& condition) {
    const FeatureView* feature = example.Find(condition.feature);
    return (feature != nullptr && HasValue(*feature, condition)) != condition.negated;
  });
}

}  // namespace recpack::pack
