// Which fields of somebody else's data set become which features (docs/sources.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace recpack {

// One feature to write. Target `image` stands for image/encoded with image/format, image/height and
// image/width; target `label` for image/class/label. Any other target is the feature's name.
struct FieldRule {
  std::string target;
  // A tar member's extension, a list's column or a record's feature. Several, separated by ';': the
  // first one that an item has.
  std::string from;
};

// Empty: every field is kept, under the name it has. Else only these.
using FieldMap = std::vector<FieldRule>;

// Reads "image=jpg;jpeg,label=cls"; "" gives an empty map. Throws Error (kInvalidArgument).
FieldMap ParseFieldMap(std::string_view text);

// The fields of the rule, in the order in which they are looked for.
std::vector<std::string> FieldsOf(const FieldRule& rule);

}  // namespace recpack
