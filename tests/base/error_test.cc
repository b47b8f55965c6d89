#include "recpack/base/error.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace recpack {
namespace {

TEST(ErrorTest, SaysWhereWhatAndWhatToDo) {
  const Error error(ErrorKind::kCorrupt, "the payload CRC does not match",
                    {.path = "a.tfrecord", .offset = 42, .ordinal = 7}, "run recpack repair");
  EXPECT_STREQ(
      error.what(),
      "a.tfrecord at byte 42 (record 7): the payload CRC does not match; run recpack repair");
}

TEST(ErrorTest, LeavesOutWhatIsNotKnown) {
  EXPECT_STREQ(Error(ErrorKind::kIo, "no").what(), "no");
  EXPECT_STREQ(Error(ErrorKind::kIo, "no", {.path = "a"}).what(), "a: no");
}

TEST(ErrorTest, MissingFileIsNotFound) {
  EXPECT_EQ(SystemError("cannot open", "x", ENOENT).kind(), ErrorKind::kNotFound);
  EXPECT_EQ(SystemError("cannot open", "x", EACCES).kind(), ErrorKind::kIo);
}

}  // namespace
}  // namespace recpack
