// Mapping from fields of a source data set to features (docs/reference/sources.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace recpack {

// Rule for one feature to write.
struct FieldRule {
  // `image` stands for image/encoded with image/format, image/height and image/width; `label` for
  // image/class/label. Any other target is a feature name.
  std::string target;
  // Source field: a tar member's extension, a list's column or a record's feature. Alternatives are
  // separated by ';': the first one that the item has is used.
  std::string from;
};

// If empty, all fields are kept under their own names; otherwise only those of the rules.
using FieldMap = std::vector<FieldRule>;

// Parses "image=jpg;jpeg,label=cls"; "" gives an empty map. Throws Error (kInvalidArgument).
FieldMap ParseFieldMap(std::string_view text);

// Returns the alternative source fields of a rule, in order of preference.
std::vector<std::string> RuleFields(const FieldRule& rule);

}  // namespace recpack
