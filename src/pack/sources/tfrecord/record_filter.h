// Which records to keep.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recpack/example/view.h"

namespace recpack::pack {

// Immutable; any number of threads.
class RecordFilter {
 public:
  // Conditions as TfrecordOptions::filters has them. Throws Error (kInvalidArgument).
  explicit RecordFilter(const std::vector<std::string>& conditions);

  bool empty() const { return conditions_.empty(); }
  bool Keeps(const ExampleView& example) const;

 private:
  struct Condition {
    std::string feature;
    std::string text;
    std::optional<int64_t> whole;  // of the text, where it is a number
    std::optional<float> number;
    bool negated = false;
  };

  static Condition Read(std::string_view text);
  static bool HasValue(const FeatureView& feature, const Condition& condition);

  std::vector<Condition> conditions_;
};

}  // namespace recpack::pack
