#include "recpack/example/field_map.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "recpack/base/text.h"
#include "src/base/format.h"

namespace recpack {
namespace {

[[noreturn]] void RefuseFields(std::string_view text, const std::string& why) {
  throw Error(ErrorKind::kInvalidArgument, format("cannot read the fields '{}': {}", text, why), {},
              "write them as image=jpg,label=cls");
}

}  // namespace

FieldMap ParseFieldMap(std::string_view text) {
  FieldMap fields;
  if (text.empty()) return fields;
  for (const std::string& part : SplitText(text, ',')) {
    const size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == part.size()) {
      RefuseFields(text, format("'{}' is not TARGET=FIELD", part));
    }
    std::string target = part.substr(0, equals);
    if (std::ranges::count(fields, target, &FieldRule::target)) {
      RefuseFields(text, format("'{}' is given twice", target));
    }
    fields.push_back({.target = std::move(target), .from = part.substr(equals + 1)});
  }
  return fields;
}

std::vector<std::string> RuleFields(const FieldRule& rule) { return SplitText(rule.from, ';'); }

}  // namespace recpack
