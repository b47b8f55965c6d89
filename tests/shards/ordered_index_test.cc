#include "src/shards/index/ordered_index.h"

#include <gtest/gtest.h>

#include <thread>

#include "recpack/base/error.h"
#include "tests/base/temporary_folder.h"

namespace recpack {
namespace {

// The original error is reported, regardless of which thread fails first.
TEST(OrderedIndex, WhoWaitsForAShardThatFailedThrowsItsFailure) {
  const TemporaryFolder folder;
  OrderedIndex index(PosixFiles(), folder / "train.recindex");
  std::string seen;
  std::jthread waits([&] {
    try {
      index.Add(1, {});
    } catch (const Error& error) {
      seen = error.what();
    }
  });
  try {
    throw Error(ErrorKind::kCorrupt, "the CRC of record 5 is wrong");
  } catch (...) {
    index.GiveUp();
  }
  waits.join();
  EXPECT_EQ(seen, "the CRC of record 5 is wrong");
}

}  // namespace
}  // namespace recpack
