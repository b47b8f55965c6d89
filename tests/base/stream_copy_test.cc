#include "recpack/base/stream_copy.h"

#include <gtest/gtest.h>

#include <vector>

namespace recpack {
namespace {

TEST(StreamCopy, CopiesWhatItIsToldAndNoMore) {
  std::vector<uint8_t> from(300);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i * 7 + 1);
  for (const size_t offset : {0, 1, 15, 16}) {
    for (size_t bytes = 0; bytes <= 200; ++bytes) {
      std::vector<uint8_t> to(320, 0);
      StreamCopy(to.data() + offset, from.data() + offset % 3, bytes);
      std::vector<uint8_t> wanted(320, 0);
      std::copy_n(from.begin() + static_cast<int>(offset % 3), bytes,
                  wanted.begin() + static_cast<int>(offset));
      ASSERT_EQ(to, wanted) << bytes << " bytes at " << offset;
    }
  }
}

}  // namespace
}  // namespace recpack
