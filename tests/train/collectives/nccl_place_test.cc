#include "src/train/collectives/nccl/nccl_place.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "recpack/base/error.h"
#include "tests/base/error_of.h"

namespace recpack::train {
namespace {

GpuPlace Place(const std::string& text) {
  GpuPlace place = {};
  std::copy(text.begin(), text.end(), place.begin());
  return place;
}

TEST(NcclPlace, TwoRanksOfOneGpuAreNamed) {
  const std::vector<GpuPlace> places = {Place("boot1 0000:3b:00.0"), Place("boot2 0000:3b:00.0"),
                                        Place("boot1 0000:5e:00.0"), Place("boot2 0000:3b:00.0")};
  CheckThatPlacesDiffer(std::span(places).first(3));
  const Error error = ErrorOf([&] { CheckThatPlacesDiffer(places); });
  EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
  EXPECT_THAT(error.what(), testing::HasSubstr("ranks 1 and 3 use one GPU (0000:3b:00.0)"));
}

}  // namespace
}  // namespace recpack::train
