// What the records of a data set have in common, learnt from some of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "recpack/example/view.h"

namespace recpack {

struct FeatureSpec {
  std::string name;
  FeatureKind kind = FeatureKind::kNone;
  bool mixed = false;       // records disagree on the kind; `kind` is the first one's
  uint64_t min_length = 0;  // values in a record; 0 where a record lacks the feature
  uint64_t max_length = 0;
  uint64_t min_bytes = 0;  // size of a value of a bytes feature
  uint64_t max_bytes = 0;

  bool fixed_length() const { return min_length == max_length; }
};

// Learns from records one by one. One thread at a time.
class SchemaBuilder {
 public:
  void Add(const ExampleView& record);

  uint64_t records() const { return records_; }

  // Features in ascending order of their names.
  std::vector<FeatureSpec> Finish() const;

 private:
  struct Seen {
    FeatureSpec spec;
    uint64_t records = 0;
    bool bytes = false;  // a value of bytes was among them
  };

  std::map<std::string, Seen, std::less<>> seen_;
  uint64_t records_ = 0;
};

}  // namespace recpack
