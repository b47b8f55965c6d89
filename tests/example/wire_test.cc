// Tests of unusual encodings, compared with Protocol Buffers.
#include <gtest/gtest.h>

#include <string>

#include "tests/example/oracle.h"

namespace recpack {
namespace {

// Encodes `value` as a varint of exactly `size` bytes, padded.
std::string Padded(uint64_t value, int size) {
  std::string text;
  for (int i = 1; i < size; ++i, value >>= 7) text += static_cast<char>(value | 0x80);
  return text + static_cast<char>(value & 0x7f);
}

// A length-delimited field; bodies are short here.
std::string Wrap(int field, const std::string& body) {
  return static_cast<char>(field << 3 | 2) + Padded(body.size(), 2) + body;
}

// Wraps `body` in `depth` messages: Example, Features, FeatureEntry, Feature, Int64List.
std::string Nested(int depth, std::string body) {
  constexpr int kFields[] = {1, 1, 2, 3};
  while (depth > 0) body = Wrap(kFields[--depth], body);
  return body;
}

std::string Groups(int count) { return std::string(count, '\x53') + std::string(count, '\x54'); }

void ExpectAsOracle(const std::string& record, bool accepted) {
  const auto oracle = ByOracle(AsBytes(record));
  EXPECT_EQ(oracle.has_value(), accepted);
  EXPECT_EQ(ByView(AsBytes(record)), oracle);
}

TEST(WireTest, LengthsHaveAtMostFiveBytes) {
  for (int size = 1; size <= 11; ++size) {
    SCOPED_TRACE(size);
    ExpectAsOracle('\x4a' + Padded(1, size) + "x", size <= 5);  // an unknown field
    ExpectAsOracle(Nested(3, '\x1a' + Padded(2, size) + "\x08\x07"), size <= 5);
  }
}

TEST(WireTest, NumbersHaveAtMostTenBytes) {
  for (int size = 1; size <= 11; ++size) {
    SCOPED_TRACE(size);
    ExpectAsOracle('\x48' + Padded(1, size), size <= 10);
    ExpectAsOracle(Nested(4, '\x08' + Padded(5, size)), size <= 10);
    ExpectAsOracle(Nested(4, Wrap(1, Padded(5, size))), size <= 10);
  }
}

TEST(WireTest, TagsHaveAtMostFiveBytes) {
  for (int size = 1; size <= 11; ++size) {
    SCOPED_TRACE(size);
    ExpectAsOracle(Padded(10, size) + Padded(0, 1), size <= 5);
  }
}

TEST(WireTest, TagsLoseWhatIsAbove32Bits) {
  ExpectAsOracle("\xf8\xff\xff\xff\x1f\x01", true);
  ExpectAsOracle("\x8a\x80\x80\x80\x70" + Nested(1, "").substr(1), true);  // Example.features
  ExpectAsOracle(std::string("\x82\x80\x80\x80\x70", 5) + '\0', false);    // field 0
}

TEST(WireTest, Int64LosesWhatIsAbove64Bits) {
  ExpectAsOracle(Nested(4, Wrap(1, std::string(9, '\xff') + '\x7f')), true);
}

TEST(WireTest, GroupsAreNestedAtMost100DeepCountingMessages) {
  for (int depth = 0; depth <= 4; ++depth) {
    SCOPED_TRACE(depth);
    ExpectAsOracle(Nested(depth, Groups(100 - depth)), true);
    ExpectAsOracle(Nested(depth, Groups(101 - depth)), false);
  }
}

TEST(WireTest, GroupsThatDoNotMatch) {
  for (const char* body : {"\x53", "\x54", "\x53\x5c", "\x53\x5b\x54\x5c", "\x0c"}) {
    for (int depth = 0; depth <= 4; ++depth) ExpectAsOracle(Nested(depth, body), false);
  }
}

TEST(WireTest, WireTypesThatDoNotExist) {
  for (int depth = 0; depth <= 4; ++depth) {
    ExpectAsOracle(Nested(depth, "\x0e"), false);
    ExpectAsOracle(Nested(depth, "\x0f"), false);
    ExpectAsOracle(Nested(depth, std::string(1, '\0')), false);
  }
}

TEST(WireTest, FieldsAreCutOff) {
  for (const char* body : {"\x48",
                           "\x49"
                           "1234567",
                           "\x4a\x02x", "\x4a\x80",
                           "\x4d"
                           "123"}) {
    for (int depth = 0; depth <= 4; ++depth) ExpectAsOracle(Nested(depth, body), false);
  }
}

TEST(WireTest, PackedFloatsAreCutOff) {
  ExpectAsOracle(Nested(3, Wrap(2, Wrap(1, "1234"))), true);
  ExpectAsOracle(Nested(3, Wrap(2, Wrap(1, "12345"))), false);
}

}  // namespace
}  // namespace recpack
