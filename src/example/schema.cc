#include "recpack/example/schema.h"

#include <algorithm>

namespace recpack {
namespace {

// Widens the range [least, most] to include `value`. `first`: the range is empty so far.
void Widen(uint64_t value, bool first, uint64_t& least, uint64_t& most) {
  least = first ? value : std::min(least, value);
  most = first ? value : std::max(most, value);
}

}  // namespace

void SchemaBuilder::Add(const ExampleView& record) {
  ++records_;
  for (const FeatureView& feature : record) {
    auto found = seen_.find(feature.name());
    if (found == seen_.end()) {
      found = seen_.emplace(std::string(feature.name()), Seen()).first;
      found->second.spec.name = feature.name();
      found->second.spec.kind = feature.kind();
    }
    Seen& seen = found->second;
    FeatureSpec& spec = seen.spec;
    spec.mixed |= spec.kind != feature.kind();
    Widen(feature.size(), seen.records == 0, spec.min_length, spec.max_length);
    for (const ByteView value : feature.bytes_values()) {
      Widen(value.size(), !seen.bytes, spec.min_bytes, spec.max_bytes);
      seen.bytes = true;
    }
    ++seen.records;
  }
}

std::vector<FeatureSpec> SchemaBuilder::Finish() const {
  std::vector<FeatureSpec> specs;
  for (const auto& [name, seen] : seen_) {
    specs.push_back(seen.spec);
    if (seen.records < records_) specs.back().min_length = 0;
  }
  return specs;
}

}  // namespace recpack
