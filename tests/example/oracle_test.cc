#include "tests/example/oracle.h"

#include <gtest/gtest.h>

#include <random>

#include "recpack/base/hash.h"
#include "recpack/example/builder.h"
#include "recpack/example/text.h"
#include "src/base/wire.h"

namespace recpack {
namespace {

ByteBuffer Build(ExampleBuilder& builder) {
  ByteBuffer record(builder.ByteSize());
  EXPECT_EQ(builder.SerializeTo(record.data()), record.data() + record.size());
  return record;
}

// Random names and lists, kept alive with their builder.
class RandomExample {
 public:
  explicit RandomExample(std::mt19937_64& random) {
    const size_t features = random() % 6;
    names_.resize(features);
    for (size_t i = 0; i < features; ++i) {
      names_[i] = std::string(random() % 3 == 0 ? 200 : 1, static_cast<char>('a' + i));
      Add(names_[i], random);
    }
  }
  ExampleBuilder builder;

 private:
  void Add(const std::string& name, std::mt19937_64& random) {
    const size_t count = random() % 5 == 0 ? 300 : random() % 4;
    if (random() % 3 == 0) {
      std::vector<ByteView> views;
      for (size_t i = 0; i < count; ++i) {
        texts_.push_back(
            std::make_unique<std::string>(random() % 400, static_cast<char>(random())));
        views.push_back(AsBytes(*texts_.back()));
      }
      return builder.AddBytesList(name, views);
    }
    if (random() % 2 == 0) {
      std::vector<float> values(count);
      for (auto& value : values) value = std::bit_cast<float>(static_cast<uint32_t>(random()));
      return builder.AddFloatList(name, values);
    }
    std::vector<int64_t> values(count);
    for (auto& value : values) value = static_cast<int64_t>(random() >> random() % 64);
    if (count > 0 && random() % 2 == 0) values[0] = -values[0];
    builder.AddInt64List(name, values);
  }

  std::vector<std::string> names_;
  std::vector<std::unique_ptr<std::string>> texts_;
};

TEST(OracleTest, BuilderWritesWhatProtobufWrites) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    RandomExample example(random);
    const ByteBuffer record = Build(example.builder);
    ASSERT_EQ(SerializeByOracle(record), AsText(record)) << i;
    ASSERT_EQ(ByView(record), ByOracle(record)) << i;
  }
}

TEST(OracleTest, AFeatureOfNoKindIsWrittenAsByProtobuf) {
  ExampleBuilder builder;
  builder.AddInt64("a", 1);
  builder.AddNone("b");
  builder.AddFloat("c", 2);
  const ByteBuffer record = Build(builder);
  EXPECT_EQ(SerializeByOracle(record), AsText(record));
  EXPECT_EQ(ByView(record), ByOracle(record));
  EXPECT_EQ(ByView(record)->at("b").kind, FeatureKind::kNone);
}

// Tests each length at which the varint of a length grows.
TEST(OracleTest, ListsOfEverySizeAroundTheLimitsOfVarints) {
  for (const size_t count :
       {0, 1, 100, 120, 123, 124, 125, 126, 127, 128, 129, 130, 16380, 16383, 16384, 16385}) {
    ExampleBuilder builder;
    const std::vector<int64_t> ones(count, 1);
    const std::string text(count, 'x');
    builder.AddInt64List("i", ones);
    builder.AddBytes("b", AsBytes(text));
    builder.AddFloatList("f", std::vector<float>(count, 0.5f));
    const ByteBuffer record = Build(builder);
    EXPECT_EQ(SerializeByOracle(record), AsText(record)) << count;
  }
}

TEST(OracleTest, BuilderRefusesANameGivenTwice) {
  ExampleBuilder builder;
  builder.AddInt64("a", 1);
  builder.AddFloat("a", 1);
  EXPECT_THROW(builder.ByteSize(), Error);
}

TEST(OracleTest, EveryPrefixIsTakenOrRefusedAsByProtobuf) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20; ++i) {
    RandomExample example(random);
    const ByteBuffer record = Build(example.builder);
    for (size_t cut = 0; cut < std::min<size_t>(record.size(), 3000); ++cut) {
      const ByteView prefix = ByteView(record).first(cut);
      ASSERT_EQ(ByView(prefix), ByOracle(prefix)) << cut;
    }
  }
}

TEST(OracleTest, MutatedRecordsMeanTheSame) {
  std::mt19937_64 random(3);
  int taken = 0;
  for (int i = 0; i < 60'000; ++i) {
    ExampleBuilder builder;
    builder.AddBytes("ab", AsBytes("xyz"));
    builder.AddInt64List("cd", std::vector<int64_t>{1, -2, 300});
    builder.AddFloatList("ef", std::vector<float>{1, 2});
    ByteBuffer record = Build(builder);
    for (uint64_t k = random() % 4 + 1; k > 0; --k) {
      record[random() % record.size()] = static_cast<uint8_t>(random() >> random() % 8);
    }
    const auto oracle = ByOracle(record);
    taken += oracle.has_value();
    ASSERT_EQ(ByView(record), oracle) << Hex(record);
  }
  EXPECT_GT(taken, 1000);
}

// Records made of well-formed pieces in orders that no serialiser would produce.
class Pieces {
 public:
  explicit Pieces(std::mt19937_64& random) : random_(random) {}

  std::string Example() {
    std::string text;
    for (uint64_t n = random_() % 3; n > 0; --n) text += Wrap(1, Features());
    return text + Unknown(1);
  }

 private:
  std::string Varint(uint64_t value) {
    uint8_t bytes[10];
    return {bytes, WriteVarint(bytes, value)};
  }
  std::string Wrap(uint32_t field, const std::string& body) {
    return Varint(field << 3 | kLengthDelimited) + Varint(body.size()) + body;
  }
  // Occasionally an unknown field, or a known one with another wire type.
  std::string Unknown(uint32_t known) {
    const uint32_t field = random_() % 2 == 0 ? known : 9;
    switch (random_() % 12) {
      case 0:
        return Varint(field << 3 | kVarint) + Varint(random_());
      case 1:
        return Varint(9 << 3 | kFixed64) + "12345678";
      case 2:
        return Varint(10 << 3 | kStartGroup) + Varint(8) + Varint(3) + Varint(10 << 3 | kEndGroup);
      case 3:
        return Wrap(9, "abc");
      default:
        return "";
    }
  }
  std::string Features() {
    std::string text;
    for (uint64_t n = random_() % 4; n > 0; --n) text += Wrap(1, Entry()) + Unknown(2);
    return text;
  }
  std::string Entry() {
    std::string text;
    for (uint64_t n = random_() % 4; n > 0; --n) {
      text += random_() % 2 == 0 ? Wrap(1, std::string(1, static_cast<char>('a' + random_() % 3)))
                                 : Wrap(2, Feature());
      text += Unknown(3);
    }
    return text;
  }
  std::string Feature() {
    std::string text;
    for (uint64_t n = random_() % 3; n > 0; --n) {
      const uint32_t kind = static_cast<uint32_t>(random_() % 3 + 1);
      text += Wrap(kind, Values(kind)) + Unknown(4);
    }
    return text;
  }
  std::string Values(uint32_t kind) {
    std::string text;
    for (uint64_t n = random_() % 3; n > 0; --n) {
      if (kind == 1) text += Wrap(1, std::string(random_() % 4, 'v'));
      if (kind == 2)
        text += random_() % 2 ? Wrap(1, "12345678") : Varint(1 << 3 | kFixed32) + "1234";
      if (kind == 3) {
        text += random_() % 2 ? Wrap(1, Varint(random_()) + Varint(3))
                              : Varint(1 << 3) + Varint(random_());
      }
      text += Unknown(5);
    }
    return text;
  }

  std::mt19937_64& random_;
};

TEST(OracleTest, MergesPiecesAsProtobufDoes) {
  std::mt19937_64 random(4);
  size_t features = 0;
  for (int i = 0; i < 50'000; ++i) {
    const std::string record = Pieces(random).Example();
    const auto oracle = ByOracle(AsBytes(record));
    ASSERT_TRUE(oracle.has_value()) << Hex(AsBytes(record));
    ASSERT_EQ(ByView(AsBytes(record)), oracle) << Hex(AsBytes(record));
    features += oracle->size();
  }
  EXPECT_GT(features, 10'000u);
}

TEST(OracleTest, NamesMustBeUtf8AsForProtobuf) {
  for (const std::string name :
       {"\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xc0\x80", "\xed\xa0\x80", "\xff",
        "a\xe2\x82", "\xf4\x90\x80\x80", "\xe0\x80\x80"}) {
    ExampleBuilder builder;
    const std::string placeholder(name.size(), 'n');
    builder.AddInt64(placeholder, 1);
    ByteBuffer record = Build(builder);
    std::ranges::copy(name, record.begin() + 6);  // after the headers of two messages and the name
    const auto taken = ByView(record);
    EXPECT_EQ(taken, ByOracle(record)) << name;

    builder.Clear();
    builder.AddInt64(name, 1);
    if (taken) {
      EXPECT_EQ(Build(builder), record) << name;
    } else {
      EXPECT_THROW(builder.ByteSize(), Error) << name;
    }
  }
}

TEST(OracleTest, BuilderRefusesWhatIsLongerThanParsersTake) {
  const std::string half(size_t{1} << 30, 'x');
  ExampleBuilder builder;
  builder.AddBytes("a", AsBytes(half));
  builder.ByteSize();
  builder.AddBytes("b", AsBytes(half));
  EXPECT_THROW(builder.ByteSize(), Error);
}

TEST(ViewTest, FindsFeaturesAndSaysWhereARecordIsBroken) {
  ExampleBuilder builder;
  builder.AddBytes("image", AsBytes("pixels"));
  builder.AddInt64("label", -3);
  ByteBuffer record = Build(builder);
  ExampleView view;
  view.Parse(record);
  EXPECT_EQ(AsText(view.Find("image")->bytes_values()[0]), "pixels");
  EXPECT_EQ(view.Find("image")->bytes_values()[0].data() - record.data(),
            17);  // a view, not a copy
  EXPECT_EQ(view.Find("label")->int64_values()[0], -3);
  EXPECT_TRUE(view.Find("label")->bytes_values().empty());
  EXPECT_EQ(view.Find("weight"), nullptr);
  record.pop_back();
  try {
    view.Parse(record);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
    EXPECT_EQ(error.place().offset, 2u);
    EXPECT_EQ(view.size(), 0u);
  }
}

TEST(ViewTest, ManyUnsortedFeaturesAndDuplicates) {
  std::string features;
  for (int i = 0; i < 200; ++i) {
    ExampleBuilder builder;
    const std::string name = std::to_string(i * 7919 % 100);
    builder.AddInt64(name, i);
    const ByteBuffer one = Build(builder);
    features += AsText(one);  // concatenated Examples are merged
  }
  EXPECT_EQ(ByView(AsBytes(features)), ByOracle(AsBytes(features)));
  EXPECT_EQ(ByView(AsBytes(features))->size(), 100u);
}

TEST(TextTest, JsonComesBackAsTheSameBytes) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 200; ++i) {
    ExampleBuilder builder;
    builder.AddInt64List("i", std::vector<int64_t>{static_cast<int64_t>(random()), -1});
    builder.AddFloat("f", static_cast<float>(i) / 8);
    builder.AddBytes("b", AsBytes("\xff\x01"));
    const ByteBuffer record = Build(builder);
    EXPECT_EQ(ExampleFromJson(ExampleToJson(record)), record);
  }
  EXPECT_THROW(ExampleFromJson("{\"features\": 3}"), Error);
  EXPECT_THROW(ExampleFromJson("{"), Error);
}

TEST(TextTest, SummaryShowsTextAndHidesLongBytes) {
  ExampleBuilder builder;
  const std::string pixels(3072, '\x80');
  builder.AddBytes("image", AsBytes(pixels));
  builder.AddBytes("name", AsBytes("a cat"));
  builder.AddInt64List("n", std::vector<int64_t>{1, 2, 3});
  EXPECT_EQ(
      ExampleSummary(Build(builder), 2),
      "image: bytes [<3072 bytes>]\nn: int64 [1, 2, ... 3 in all]\nname: bytes [\"a cat\"]\n");
  EXPECT_NE(ExampleToText(Build(builder)).find("key: \"name\""), std::string::npos);
  builder.Clear();
  builder.AddBytes("bell\a", AsBytes("\xc2\x9b"
                                     "31m"));  // would colour a terminal
  EXPECT_EQ(ExampleSummary(Build(builder)), "<a name of 5 bytes>: bytes [<5 bytes>]\n");
}

TEST(TextTest, SaysWhereARecordIsBroken) {
  const ByteView record = AsBytes("\x0a\x04\x0a\x7f\x0a\x01");  // an entry longer than the features
  for (const auto to_text : {ExampleToText, ExampleToJson}) {
    try {
      to_text(record);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
      EXPECT_EQ(error.place().offset, 4u) << error.what();
    }
  }
}

}  // namespace
}  // namespace recpack
