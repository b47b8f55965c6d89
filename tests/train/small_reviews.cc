#include "tests/train/small_reviews.h"

#include "src/pack/job/pack.h"
#include "src/pack/sources/reviews/reviews.h"
#include "src/pack/sources/reviews/stand_in_reviews.h"

namespace recpack {

SmallReviews::SmallReviews(uint64_t records) {
  WriteReviewsStandIn(folder_.path(), {.records = records});
  const auto source = OpenReviews({.path = folder_.path() + "/" + kStandInReviewsName});
  PackOptions options;
  options.out = folder();
  options.sync = false;
  Pack(*source, options);
}

std::string SmallReviews::folder() const { return folder_.path() + "/shards"; }

}  // namespace recpack
