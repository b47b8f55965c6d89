// Filters records by feature values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recpack/example/view.h"

namespace recpack::pack {

// Immutable and thread-safe.
class RecordFilter {
 public:
  // Parses conditions as in TfrecordOptions::filters. Throws Error (kInvalidArgument).
  explicit RecordFilter(const std::vector<std::string>& conditions);

  bool empty() const { return conditions_.empty(); }
  bool Keeps(const ExampleView& example) const;

 private:
  struct Condition {
    std::string feature;
    std::string text;
    std::optional<int64_t> whole;  // value of the text if it is a number
    std::optional<float> number;
    bool negated = false;
  };

  static Condition Read(std::string_view text);
  static bool HasValue(const FeatureView& feature, const Condition& condition);

  std::vector<Condition> conditions_;
};

}  // namespace recpack::pack
