// A small data set of made-up reviews, whose words determine the ratings.
#pragma once

#include <cstdint>
#include <string>

#include "tests/base/temporary_folder.h"

namespace recpack::train {

// Shards with their vocabulary, as `recpack pack --from reviews` makes them. Removed with the
// object.
class SmallReviews {
 public:
  explicit SmallReviews(uint64_t records);

  std::string folder() const;

 private:
  TemporaryFolder folder_;
};

}  // namespace recpack::train
