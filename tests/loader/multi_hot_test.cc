#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "recpack/base/error.h"
#include "recpack/example/builder.h"
#include "src/base/format.h"
#include "src/loader/fields/field_writer.h"
#include "tests/base/error_of.h"

namespace recpack {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// A record with one feature "tags".
class Tags {
 public:
  static Tags Indices(std::initializer_list<int64_t> indices) {
    Tags tags;
    tags.builder_.AddInt64List("tags", std::vector<int64_t>(indices));
    return tags;
  }
  static Tags Names(std::initializer_list<const char*> names) {
    std::vector<ByteView> values;
    for (const char* name : names) values.push_back(AsBytes(std::string_view(name)));
    Tags tags;
    tags.builder_.AddBytesList("tags", values);
    return tags;
  }
  static Tags Float() {
    Tags tags;
    tags.builder_.AddFloat("tags", 1);
    return tags;
  }

  ByteBuffer Record() {
    ByteBuffer record(builder_.ByteSize());
    builder_.SerializeTo(record.data());
    return record;
  }

 private:
  ExampleBuilder builder_;
};

template <typename T = float>
std::vector<T> Written(const MultiHotField& field, Tags tags) {
  const auto writer = MakeMultiHotWriter(field);
  const ByteBuffer record = tags.Record();
  ExampleView example;
  example.Parse(record);
  SampleTools tools;
  std::vector<T> result(writer->Arrays()[0].shape[0], T{7});
  auto* const out = reinterpret_cast<uint8_t*>(result.data());
  writer->Write({.example = example, .id = 0, .epoch = 0, .epoch_seed = 0, .position = 0}, tools,
                {&out, 1});
  return result;
}

MultiHotField Named(std::string separator = "") {
  return {
      .name = "tags", .classes = {"cat", "dog", "out doors"}, .separator = std::move(separator)};
}

TEST(MultiHotField, TakesIndices) {
  const MultiHotField field{.name = "tags", .count = 4};
  EXPECT_THAT(Written(field, Tags::Indices({3, 1, 3})), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(Written(field, Tags::Indices({0})), ElementsAre(1, 0, 0, 0));
  EXPECT_THAT(Written(Named(), Tags::Indices({2})), ElementsAre(0, 0, 1))
      << "of named classes, too";
}

TEST(MultiHotField, TakesNames) {
  EXPECT_THAT(Written(Named(), Tags::Names({"out doors", "cat"})), ElementsAre(1, 0, 1));
  EXPECT_THAT(Written(Named(), Tags::Names({"dog"})), ElementsAre(0, 1, 0));
}

TEST(MultiHotField, SplitsAValue) {
  EXPECT_THAT(Written(Named("|"), Tags::Names({"out doors|cat"})), ElementsAre(1, 0, 1));
  EXPECT_THAT(Written(Named("|"), Tags::Names({" dog | out doors\n"})), ElementsAre(0, 1, 1));
  EXPECT_THAT(Written(Named("||"), Tags::Names({"cat||dog||"})), ElementsAre(1, 1, 0));
  EXPECT_THAT(Written(Named("|"), Tags::Names({"cat|dog", "out doors"})), ElementsAre(1, 1, 1));
}

TEST(MultiHotField, NoClassesAreZeros) {
  EXPECT_THAT(Written(Named(), Tags::Names({})), ElementsAre(0, 0, 0));
  EXPECT_THAT(Written(Named(), Tags::Indices({})), ElementsAre(0, 0, 0));
  EXPECT_THAT(Written(Named(), Tags::Names({""})), ElementsAre(0, 0, 0));
  EXPECT_THAT(Written(Named("|"), Tags::Names({" | |"})), ElementsAre(0, 0, 0));
}

TEST(MultiHotField, MayBeOfBytes) {
  MultiHotField field = Named(",");
  field.type = ElementType::kU8;
  EXPECT_EQ(MakeMultiHotWriter(field)->Arrays()[0].sample_bytes, 3u);
  EXPECT_THAT(Written<uint8_t>(field, Tags::Names({"dog,cat"})), ElementsAre(1, 1, 0));
}

TEST(MultiHotField, RefusesWhatIsNoClass) {
  const auto reason = [](const MultiHotField& field, Tags tags) {
    const Error error = ErrorOf([&] { Written(field, std::move(tags)); });
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    return std::string(error.what());
  };
  EXPECT_THAT(reason(Named(), Tags::Names({"cat", "cow"})),
              AllOf(HasSubstr("'cow'"), HasSubstr("cat, dog, out doors")));
  EXPECT_THAT(reason(Named(), Tags::Names({"cat|dog"})), HasSubstr("separates"));
  EXPECT_THAT(reason(Named("|"), Tags::Names({"cat| Dog "})), HasSubstr("'Dog'"));
  EXPECT_THAT(reason(Named(), Tags::Names({" cat"})), HasSubstr("' cat'"));
  EXPECT_THAT(reason(Named(), Tags::Names({"\xff"})), HasSubstr("no UTF-8"));
  std::string accents = "x";
  while (accents.size() < 100) accents += "\u00e9";
  EXPECT_THAT(reason(Named(), Tags::Names({accents.c_str()})), HasSubstr("\u00e9...'"));
  EXPECT_THAT(reason(Named(), Tags::Indices({3})),
              AllOf(HasSubstr("class 3"), HasSubstr("0 to 2")));
  EXPECT_THAT(reason(Named(), Tags::Indices({-1})), HasSubstr("class -1"));
  EXPECT_THAT(reason(Named(), Tags::Indices({INT64_MIN})), HasSubstr("class -9223372036854775808"));
  EXPECT_THAT(reason(Named(), Tags::Float()), HasSubstr("is float"));
  EXPECT_THAT(reason({.name = "tags", .count = 3}, Tags::Names({"cat"})), HasSubstr("names"));
  EXPECT_THAT(reason({.name = "other", .count = 3}, Tags::Indices({1})),
              HasSubstr("no feature 'other'"));
}

TEST(MultiHotField, MayIgnoreWhatIsNoClass) {
  MultiHotField field = Named("|");
  field.ignore_unknown = true;
  EXPECT_THAT(Written(field, Tags::Names({"cow|dog"})), ElementsAre(0, 1, 0));
  EXPECT_THAT(Written(field, Tags::Indices({-1, 2, 3})), ElementsAre(0, 0, 1));
}

TEST(MultiHotField, RefusesItsOptions) {
  const auto reason = [](const MultiHotField& field) {
    return std::string(ErrorOf([&] { MakeMultiHotWriter(field); }).what());
  };
  EXPECT_THAT(reason({.name = "tags"}), HasSubstr("no classes"));
  EXPECT_THAT(reason({.name = "tags", .classes = {"cat"}, .count = 1}), HasSubstr("both"));
  EXPECT_THAT(reason({.name = "tags", .classes = {"cat", ""}}), HasSubstr("class 1"));
  EXPECT_THAT(reason({.name = "tags", .classes = {"cat", "dog", "cat"}}),
              AllOf(HasSubstr("class 2"), HasSubstr("as is class 0")));
  EXPECT_THAT(reason({.name = "tags", .classes = {"a|b"}, .separator = "|"}),
              HasSubstr("contains the separator"));
  EXPECT_THAT(reason({.name = "tags", .classes = {"a "}, .separator = "|"}),
              HasSubstr("white space"));
  EXPECT_THAT(reason({.name = "tags", .count = 2, .separator = "|"}), HasSubstr("no names"));
  EXPECT_THAT(reason({.name = "tags", .count = 2, .type = ElementType::kF16}), HasSubstr("f16"));
}

// 10,000 classes, each listed by 20 records: in a search of all names that would be 10^9 steps.
TEST(MultiHotField, FindsManyNames) {
  MultiHotField field{.name = "tags"};
  std::vector<std::string> names;
  for (int i = 0; i < 10000; ++i) names.push_back(format("class {}", i));
  field.classes = names;
  const auto writer = MakeMultiHotWriter(field);
  ExampleBuilder builder;
  builder.AddBytesList(
      "tags", std::vector<ByteView>(names.size(), AsBytes(std::string_view("class 9999"))));
  ByteBuffer record(builder.ByteSize());
  builder.SerializeTo(record.data());
  ExampleView example;
  example.Parse(record);
  SampleTools tools;
  std::vector<float> result(names.size());
  auto* const out = reinterpret_cast<uint8_t*>(result.data());
  for (int i = 0; i < 20; ++i) writer->Write({example, 0, 0, 0, 0}, tools, {&out, 1});
  EXPECT_EQ(result[9999], 1);
  EXPECT_EQ(result[9998], 0);
}

}  // namespace
}  // namespace recpack
