#include "tests/train/small_reviews.h"

#include "src/pack/job/pack.h"
#include "src/pack/sources/reviews/reviews.h"
#include "src/stand_in/reviews.h"

namespace recpack::train {

SmallReviews::SmallReviews(uint64_t records) {
  stand_in::WriteReviews(folder_.path(), {.records = records});
  const auto source = pack::OpenReviews({.path = folder_.path() + "/" + stand_in::kReviewsName});
  pack::PackOptions options;
  options.out = folder();
  options.sync = false;
  pack::Pack(*source, options);
}

std::string SmallReviews::folder() const { return folder_.path() + "/shards"; }

}  // namespace recpack::train
