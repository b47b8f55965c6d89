#include <gtest/gtest.h>

#include "recpack/base/folders.h"

namespace recpack {
namespace {

TEST(PlainPath, HasTheNameOfItsLastPart) {
  for (const char* path : {"/runs/kept", "/runs/kept/", "/runs//kept///", "/runs/./kept/.",
                           "/runs/other/../kept/", "/runs/kept/x/.."}) {
    EXPECT_EQ(PlainPath(path).string(), "/runs/kept") << path;
    EXPECT_EQ(PlainPath(path).filename().string(), "kept") << path;
  }
  EXPECT_EQ(PlainPath("/").string(), "/");
}

TEST(PlainPath, IsAbsolute) {
  const auto here = std::filesystem::current_path();
  EXPECT_EQ(PlainPath("kept/").string(), (here / "kept").string());
  for (const char* path : {".", "./", "kept/.."}) {
    EXPECT_EQ(PlainPath(path).string(), here.string()) << path;
  }
}

}  // namespace
}  // namespace recpack
