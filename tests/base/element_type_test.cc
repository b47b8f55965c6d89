#include "recpack/base/element_type.h"

#include <gtest/gtest.h>

namespace recpack {
namespace {

TEST(ElementType, HasNameAndSize) {
  EXPECT_STREQ(ElementName(ElementType::kU8), "u8");
  EXPECT_STREQ(ElementName(ElementType::kI32), "i32");
  EXPECT_STREQ(ElementName(ElementType::kI64), "i64");
  EXPECT_STREQ(ElementName(ElementType::kF16), "f16");
  EXPECT_STREQ(ElementName(ElementType::kBf16), "bf16");
  EXPECT_STREQ(ElementName(ElementType::kF32), "f32");
  EXPECT_STREQ(ElementName(ElementType::kU64), "u64");
  EXPECT_EQ(ElementBytes(ElementType::kU8), 1);
  EXPECT_EQ(ElementBytes(ElementType::kI32), 4);
  EXPECT_EQ(ElementBytes(ElementType::kI64), 8);
  EXPECT_EQ(ElementBytes(ElementType::kF16), 2);
  EXPECT_EQ(ElementBytes(ElementType::kBf16), 2);
  EXPECT_EQ(ElementBytes(ElementType::kF32), 4);
  EXPECT_EQ(ElementBytes(ElementType::kU64), 8);
}

}  // namespace
}  // namespace recpack
