// Maps features of foreign records to the usual names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recpack/example/field_map.h"
#include "recpack/example/view.h"

namespace recpack {

// Immutable and thread-safe.
class FeatureMapper {
 public:
  FeatureMapper() = default;
  // `label_offset` is subtracted from the label: the mapped one, otherwise image/class/label,
  // otherwise label.
  FeatureMapper(const FieldMap& fields, int64_t label_offset);

  // Copies views only. Throws Error without a place: kNotFound if a mapped feature is missing,
  // kUnsupported if a label is not a number, kCorrupt if a label is below the offset.
  void Apply(ExampleView& example) const {
    if (!rules_.empty() || label_offset_ != 0) Map(example);
  }

 private:
  struct Rule {
    std::vector<std::string> targets;
    std::vector<std::string> from;  // candidates; the first that the record has is used
    std::string text;               // for messages
    bool is_label;
  };

  void Map(ExampleView& example) const;
  void TakeOffset(ExampleView& example, const FeatureView& label) const;

  std::vector<Rule> rules_;
  int64_t label_offset_ = 0;
};

}  // namespace recpack
