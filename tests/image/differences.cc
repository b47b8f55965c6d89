#include "tests/image/differences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace recpack {

ErrorKind DecodeErrorKind(ByteView bytes, const DecodeOptions& options) {
  try {
    DecodeImage(bytes, options);
  } catch (const Error& error) {
    EXPECT_FALSE(error.reason().empty());
    return error.kind();
  }
  ADD_FAILURE() << "no error";
  return ErrorKind::kIo;
}

int LargestDifference(const Image& a, const Image& b) {
  if (a.width != b.width || a.height != b.height || a.channels != b.channels) return -1;
  int distance = 0;
  for (size_t i = 0; i < a.pixels.size(); ++i) {
    distance = std::max(distance, std::abs(a.pixels[i] - b.pixels[i]));
  }
  return distance;
}

}  // namespace recpack
