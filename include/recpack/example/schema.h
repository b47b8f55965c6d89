// Schema of a data set, inferred from a sample of its records.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "recpack/example/view.h"

namespace recpack {

// Kind and extent of one feature over all records of the sample.
struct FeatureSpec {
  std::string name;
  FeatureKind kind = FeatureKind::kNone;
  bool mixed = false;       // records disagree on the kind; `kind` is that of the first record
  uint64_t min_length = 0;  // values per record; 0 if a record lacks the feature
  uint64_t max_length = 0;
  uint64_t min_bytes = 0;  // size of one value of a bytes feature
  uint64_t max_bytes = 0;

  // Tells whether every record has the same number of values.
  bool fixed_length() const { return min_length == max_length; }
};

// Infers a schema from records added one by one. Not thread-safe.
class SchemaBuilder {
 public:
  // Takes the features of one record into account; `record` is not kept.
  void Add(const ExampleView& record);

  uint64_t records() const { return records_; }

  // Returns the features in ascending order of their names.
  std::vector<FeatureSpec> Finish() const;

 private:
  struct Seen {
    FeatureSpec spec;
    uint64_t records = 0;
    bool bytes = false;  // at least one value of bytes was seen
  };

  std::map<std::string, Seen, std::less<>> seen_;
  uint64_t records_ = 0;
};

}  // namespace recpack
