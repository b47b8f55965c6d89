// Lets features of foreign records be found under the usual names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recpack/example/field_map.h"
#include "recpack/example/view.h"

namespace recpack {

// Immutable; any number of threads.
class FeatureMapper {
 public:
  FeatureMapper() = default;
  // `label_offset` is taken off the label: the mapped one, else image/class/label, else label.
  FeatureMapper(const FieldMap& fields, int64_t label_offset);

  // Nothing is copied but views. Throws Error without a place: kNotFound where a mapped feature is
  // missing, kUnsupported for a label that is no number, kCorrupt for one below the offset.
  void Apply(ExampleView& example) const {
    if (!rules_.empty() || label_offset_ != 0) Map(example);
  }

 private:
  struct Rule {
    std::vector<std::string> targets;
    std::vector<std::string> from;  // the first that a record has
    std::string text;               // for messages
    bool is_label;
  };

  void Map(ExampleView& example) const;
  void TakeOffset(ExampleView& example, const FeatureView& label) const;

  std::vector<Rule> rules_;
  int64_t label_offset_ = 0;
};

// The feature, or Error (kInvalidArgument) that lists those there are.
const FeatureView& RequireFeature(const ExampleView& example, const std::string& feature);

}  // namespace recpack
