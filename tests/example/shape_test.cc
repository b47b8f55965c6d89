// Tests of the shapes that records hold beside their arrays.
#include "recpack/example/shape.h"

#include <gtest/gtest.h>

#include "recpack/example/builder.h"

namespace recpack {
namespace {

// Returns the shape of a feature of 24 bytes, or of 24 numbers, beside which the record has
// `shape`.
std::vector<int64_t> FoundBeside(const std::vector<int64_t>& shape, bool bytes) {
  const ByteBuffer values(24);
  const std::vector<int64_t> numbers(24);
  const std::string name = ShapeName("it");  // not copied
  ExampleBuilder builder;
  if (bytes) builder.AddBytes("it", values);
  if (!bytes) builder.AddInt64List("it", numbers);
  builder.AddInt64List(name, shape);
  ByteBuffer record(builder.ByteSize());
  builder.SerializeTo(record.data());
  ExampleView view;
  view.Parse(record);
  return FindShape(view, *view.Find("it"));
}

TEST(Shape, IsFoundIfItFits) {
  constexpr int64_t kHuge = int64_t{1} << 31;
  const std::vector<int64_t> fitting[] = {{2, 12}, {2, 4, 3}, {1, 24, 1, 1}};
  const std::vector<int64_t> others[] = {
      {}, {24}, {2, 11}, {-2, -12}, {0, 24}, {2, 12, kHuge * kHuge}, {kHuge, kHuge, kHuge}};
  for (const bool bytes : {true, false}) {
    for (const auto& shape : fitting) EXPECT_EQ(FoundBeside(shape, bytes), shape);
    for (const auto& shape : others) EXPECT_TRUE(FoundBeside(shape, bytes).empty());
  }
}

TEST(Shape, NoneIsFoundWithoutOneOrOfSeveralValues) {
  const ByteBuffer one(2);
  const std::vector<ByteView> values = {one, one};
  ExampleBuilder builder;
  builder.AddBytesList("it", values);
  builder.AddInt64List("it/shape", std::vector<int64_t>{2, 2});
  builder.AddFloatList("other", std::vector<float>(4));
  builder.AddFloatList("other/shape", std::vector<float>{2, 2});
  builder.AddBytes("third", one);
  ByteBuffer record(builder.ByteSize());
  builder.SerializeTo(record.data());
  ExampleView view;
  view.Parse(record);
  for (const char* name : {"it", "other", "third"}) {
    EXPECT_TRUE(FindShape(view, *view.Find(name)).empty()) << name;
  }
}

}  // namespace
}  // namespace recpack
