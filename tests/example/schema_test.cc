#include "recpack/example/schema.h"

#include <gtest/gtest.h>

#include "recpack/example/builder.h"

namespace recpack {
namespace {

void Learn(ExampleBuilder& builder, SchemaBuilder& schema) {
  ByteBuffer record(builder.ByteSize());
  builder.SerializeTo(record.data());
  ExampleView view;
  view.Parse(record);
  schema.Add(view);
  builder.Clear();
}

TEST(SchemaTest, LearnsKindsLengthsAndSizes) {
  SchemaBuilder schema;
  ExampleBuilder builder;
  for (int64_t i = 1; i <= 3; ++i) {
    const std::string text(static_cast<size_t>(i), 'x');
    builder.AddBytes("b", AsBytes(text));
    builder.AddInt64List("i", std::vector<int64_t>(static_cast<size_t>(i), 7));
    builder.AddFloat("f", 1.5f);
    Learn(builder, schema);
  }
  const auto specs = schema.Finish();
  ASSERT_EQ(specs.size(), 3u);
  EXPECT_EQ(specs[0].name, "b");
  EXPECT_TRUE(specs[0].fixed_length());
  EXPECT_EQ(specs[0].min_bytes, 1u);
  EXPECT_EQ(specs[0].max_bytes, 3u);
  EXPECT_EQ(specs[1].kind, FeatureKind::kFloat);
  EXPECT_EQ(specs[2].min_length, 1u);
  EXPECT_EQ(specs[2].max_length, 3u);
}

TEST(SchemaTest, AFeatureThatSomeRecordsLackHasNoFixedLength) {
  SchemaBuilder schema;
  ExampleBuilder builder;
  builder.AddInt64("a", 1);
  builder.AddInt64("b", 1);
  Learn(builder, schema);
  builder.AddInt64("a", 1);
  Learn(builder, schema);
  const auto specs = schema.Finish();
  EXPECT_TRUE(specs[0].fixed_length());
  EXPECT_FALSE(specs[1].fixed_length());
}

TEST(SchemaTest, RecordsThatDisagreeOnTheKindAreMixed) {
  SchemaBuilder schema;
  ExampleBuilder builder;
  builder.AddInt64("a", 1);
  Learn(builder, schema);
  builder.AddFloat("a", 1);
  Learn(builder, schema);
  builder.AddBytes("a", AsBytes("12345"));
  Learn(builder, schema);
  EXPECT_TRUE(schema.Finish()[0].mixed);
  EXPECT_EQ(schema.Finish()[0].min_bytes, 5u);  // numbers have no size
}

}  // namespace
}  // namespace recpack
