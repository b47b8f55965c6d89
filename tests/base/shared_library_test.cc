#include "recpack/base/shared_library.h"

#include <gmock/gmock.h>

#include <cmath>

#include "recpack/base/error.h"

namespace recpack {
namespace {

using testing::HasSubstr;

std::string FailureOf(const std::string& name, const std::string& elsewhere) {
  try {
    SharedLibrary(name, elsewhere, "install it");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    return error.what();
  }
  return "loaded";
}

TEST(SharedLibrary, FindsAFunction) {
  double (*cosine)(double) = nullptr;
  SharedLibrary("libm.so.6", "", "").Find(cosine, "cos");
  ASSERT_NE(cosine, nullptr);
  EXPECT_EQ(cosine(0), 1);
}

TEST(SharedLibrary, IsLookedForWhereTheBuildFoundItToo) {
  double (*cosine)(double) = nullptr;
  SharedLibrary("libno-such.so", "libm.so.6", "").Find(cosine, "cos");
  EXPECT_NE(cosine, nullptr);
}

TEST(SharedLibrary, SaysWhyItIsNotThereAndWhatToDo) {
  EXPECT_THAT(FailureOf("libno-such.so", ""),
              testing::AllOf(HasSubstr("libno-such.so"), HasSubstr("cannot be loaded"),
                             HasSubstr("install it")));
  EXPECT_THAT(FailureOf("libno-such.so", "/no/such.so"), HasSubstr("/no/such.so"));
}

TEST(SharedLibrary, SaysWhichFunctionIsMissing) {
  const SharedLibrary library("libm.so.6", "", "");
  void (*function)() = nullptr;
  try {
    library.Find(function, "no_such_function");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                testing::AllOf(HasSubstr("libm.so.6"), HasSubstr("no_such_function")));
  }
}

}  // namespace
}  // namespace recpack
