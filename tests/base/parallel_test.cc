#include "recpack/base/parallel.h"

#include <gmock/gmock.h>

#include <atomic>
#include <stdexcept>
#include <vector>

#include "recpack/base/error.h"
#include "tests/base/address_space.h"
#include "tests/base/error_of.h"
#include "tests/base/forked.h"

namespace recpack {
namespace {

using testing::HasSubstr;

TEST(ParallelFor, DoesEachPieceOfWorkOnce) {
  std::vector<std::atomic<int>> done(1000);
  ParallelFor(done.size(), 4, [&](size_t worker, size_t i) {
    EXPECT_LT(worker, 4u);
    ++done[i];
  });
  for (const auto& times : done) EXPECT_EQ(times, 1);
  ParallelFor(0, 4, [](size_t, size_t) { FAIL(); });
}

TEST(ParallelFor, ThrowsTheFirstExceptionAndStops) {
  std::atomic<size_t> begun = 0;
  EXPECT_THROW(ParallelFor(1'000'000, 2,
                           [&](size_t, size_t) {
                             ++begun;
                             throw std::runtime_error("enough");
                           }),
               std::runtime_error);
  EXPECT_LE(begun, 2u);
}

TEST(ParallelFor, SaysThatAThreadCannotBeStarted) {
  if (!CanLimitAddressSpace()) GTEST_SKIP() << "address space has no limit here";
  EXPECT_EQ(InChild([] {
              LeaveRoomForOneThread();
              const Error error = ErrorOf([] { ParallelFor(100, 4, [](size_t, size_t) {}); });
              EXPECT_EQ(error.kind(), ErrorKind::kIo);
              EXPECT_THAT(error.what(), HasSubstr("a thread cannot be started: "));
              EXPECT_THAT(error.what(), HasSubstr("use fewer threads"));
              return !testing::Test::HasFailure();
            }),
            0);
}

}  // namespace
}  // namespace recpack
