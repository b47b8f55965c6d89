#include "src/train/checkpoint/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <limits>

#include "recpack/base/error.h"
#include "tests/base/error_of.h"
#include "tests/base/faulty_files.h"
#include "tests/base/temporary_folder.h"
#include "tests/golden.h"
#include "tests/train/safetensors_files.h"

namespace recpack::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// One of every type, with odd sizes, a scalar and an empty one.
struct Arrays {
  std::vector<uint8_t> bytes = std::vector<uint8_t>(8 * 30, 0xA5);
  std::vector<NamedArray> all;

  Arrays() {
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 37);
    const ElementType types[] = {ElementType::kU8,  ElementType::kI32,  ElementType::kI64,
                                 ElementType::kF16, ElementType::kBf16, ElementType::kF32,
                                 ElementType::kU64};
    for (const ElementType type : types) {
      all.push_back({ElementName(type), type, {2, 3, 5}, bytes.data()});
      all.push_back({std::string("one ") + ElementName(type), type, {}, bytes.data() + 8});
    }
    all.push_back({"none", ElementType::kF32, {4, 0, 2}, nullptr});
    all.push_back({"\"größe\"\n", ElementType::kU8, {3}, bytes.data()});
  }
};

std::string BytesOf(const NamedArray& array) {
  return {static_cast<const char*>(array.data), array.bytes()};
}

std::vector<std::string> Names(const LoadedArrays& loaded) {
  std::vector<std::string> names;
  for (const auto& array : loaded.arrays) names.push_back(array.name);
  return names;
}

TEST(Safetensors, EveryTypeComesBack) {
  const Arrays arrays;
  const ArrayMetadata metadata = {{"step", "12"}, {"", "\"\\\n\x01 größe"}};
  const LoadedArrays loaded = ReadBytes(Written(arrays.all, metadata));
  EXPECT_EQ(loaded.metadata, metadata);
  ASSERT_EQ(loaded.arrays.size(), arrays.all.size());
  for (const auto& array : arrays.all) {
    const NamedArray* found = loaded.Find(array.name);
    ASSERT_NE(found, nullptr) << array.name;
    EXPECT_EQ(found->type, array.type);
    EXPECT_EQ(found->shape, array.shape);
    EXPECT_EQ(BytesOf(*found), BytesOf(array)) << array.name;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(found->data) % ElementBytes(array.type), 0u)
        << array.name;
  }
  EXPECT_EQ(loaded.Find("other"), nullptr);
}

TEST(Safetensors, LargerElementsComeFirstElseTheOrderIsTheCallers) {
  const float value = 1;
  const LoadedArrays loaded = ReadBytes(Written(std::vector<NamedArray>{
      {"b", ElementType::kU8, {3}, &value},
      {"z", ElementType::kF32, {1}, &value},
      {"a", ElementType::kF32, {1}, &value},
  }));
  EXPECT_THAT(Names(loaded), ElementsAre("z", "a", "b"));
}

// The bytes of the format: docs/format/checkpoint.md shows this file.
TEST(Safetensors, TheFormIsFrozen) {
  const float values[] = {1, -2};
  const ByteBuffer bytes =
      Written(std::vector<NamedArray>{{"w", ElementType::kF32, {1, 2}, values}}, {{"model", "m"}});
  ASSERT_EQ(bytes.size(), 192u + 8);
  EXPECT_EQ(LoadLittleEndian<uint64_t>(bytes.data()), 184u);
  EXPECT_EQ(AsText(bytes).substr(8, 184),
            R"({"__metadata__":{"model":"m","recpack.sha256":")"
            "8ff5ff990eefc27630b00a768270a49238fc85d055ebdc43e0841082e6bbf674"
            R"("},"w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}})"
            "               ");
  EXPECT_EQ(LoadLittleEndian<float>(bytes.data() + 192), 1);
  EXPECT_EQ(LoadLittleEndian<float>(bytes.data() + 196), -2);
}

TEST(Safetensors, EqualArraysGiveEqualBytes) {
  EXPECT_EQ(Written(Arrays().all, {{"a", "b"}}), Written(Arrays().all, {{"a", "b"}}));
}

TEST(Safetensors, DataBeginAtAMultipleOf64) {
  const uint8_t value = 9;
  for (size_t length = 1; length < 140; ++length) {
    const ByteBuffer bytes =
        Written(std::vector<NamedArray>{{std::string(length, 'n'), ElementType::kU8, {}, &value}});
    EXPECT_EQ((bytes.size() - 1) % 64, 0u);
    EXPECT_EQ(bytes.back(), 9);
  }
}

TEST(Safetensors, NothingIsAFileToo) {
  EXPECT_TRUE(ReadBytes(Written({})).arrays.empty());
  EXPECT_TRUE(ReadBytes(FileOf("{}", 0)).arrays.empty());
}

// Except in the checksum's own name, where damage gives a file without a checksum.
TEST(Safetensors, AChangedBitIsNoticed) {
  const ByteBuffer whole = Written(Arrays().all, {{"step", "12"}});
  const size_t name = AsText(whole).find("recpack.sha256");
  for (size_t i = 0; i < whole.size(); ++i) {
    if (i >= name && i < name + std::strlen("recpack.sha256")) continue;
    ByteBuffer bytes = whole;
    bytes[i] ^= 1;
    EXPECT_THROW(ReadBytes(bytes), Error) << "byte " << i;
  }
}

TEST(Safetensors, NoPrefixIsAFile) {
  const ByteBuffer whole = Written(Arrays().all);
  for (size_t size = 0; size < whole.size(); ++size) {
    const Error error =
        ErrorOf([&] { ReadBytes(ByteBuffer(whole.begin(), whole.begin() + ptrdiff_t(size))); });
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt) << size;
    EXPECT_TRUE(error.place().offset) << size;
  }
}

TEST(Safetensors, MoreBytesThanArraysAreDamage) {
  ByteBuffer bytes = Written(Arrays().all);
  bytes.push_back(0);
  EXPECT_EQ(ErrorOf([&] { ReadBytes(bytes); }).kind(), ErrorKind::kCorrupt);
}

TEST(Safetensors, AChangedFileThatKeepsTheChecksumIsToldHow) {
  const float value = 1;
  ByteBuffer bytes = Written(std::vector<NamedArray>{{"w", ElementType::kF32, {}, &value}});
  bytes.back() ^= 1;
  const Error error = ErrorOf([&] { ReadBytes(bytes); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_THAT(error.what(), HasSubstr("leave recpack.sha256 out"));
}

TEST(Safetensors, AChecksumIsNotLookedForInTexts) {
  const ArrayMetadata metadata = {{"a", R"("recpack.sha256":"00000000000000000000000000000000)"
                                        R"(00000000000000000000000000000000")"}};
  EXPECT_EQ(ReadBytes(Written({}, metadata)).metadata, metadata);
}

TEST(Safetensors, HugeHeaderLengthsAreRefusedWithoutMemory) {
  for (const uint64_t length : {uint64_t{3}, uint64_t{100'000'001}, uint64_t{1} << 63,
                                std::numeric_limits<uint64_t>::max()}) {
    ByteBuffer bytes = FileOf("{}", 0);
    StoreLittleEndian<uint64_t>(bytes.data(), length);
    EXPECT_EQ(ErrorOf([&] { ReadBytes(bytes); }).kind(), ErrorKind::kCorrupt) << length;
  }
}

struct BadHeader {
  const char* what;
  const char* header;
  size_t data_bytes;
  const char* reason;
  ErrorKind kind = ErrorKind::kCorrupt;
};

const BadHeader kBadHeaders[] = {
    {"NoJson", R"({"a":)", 0, "the header is not JSON"},
    {"Empty", "", 0, "not a JSON object"},
    {"NoObject", "[]", 0, "not a JSON object"},
    {"SpacesBefore", " {}", 0, "not a JSON object"},
    {"TextBehind", "{} x", 0, "the header is not JSON"},
    {"NotUtf8", "{\"\xff\":{}}", 0, "the header is not JSON"},
    {"NumberBeyondAll", R"({"a":{"shape":[1e999]}})", 0, "the header is not JSON"},
    {"Deep", R"({"a":{"shape":[[]]}})", 0, "nested too deeply"},
    {"EqualNames",
     R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
     R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
     1, "has 'a' twice"},
    {"EqualMembers", R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1,
     "has 'dtype' twice"},
    {"EqualMetadata", R"({"__metadata__":{"a":"1","a":"1"}})", 0, "has 'a' twice"},
    {"MetadataNoObject", R"({"__metadata__":"a"})", 0, "the metadata is not a JSON object"},
    {"MetadataNumber", R"({"__metadata__":{"a":1}})", 0,
     "the metadata value of 'a' is not a string"},
    {"ArrayNoObject", R"({"a":1})", 0, "array 'a' lacks \"dtype\""},
    {"NoType", R"({"a":{"shape":[1],"data_offsets":[0,1]}})", 1, "lacks \"dtype\""},
    {"NoShape", R"({"a":{"dtype":"U8","data_offsets":[0,1]}})", 1, "lacks \"shape\""},
    {"NoOffsets", R"({"a":{"dtype":"U8","shape":[1]}})", 1, "lacks \"data_offsets\""},
    {"UnknownType", R"({"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}})", 8,
     "array 'a' has the type \"F64\"", ErrorKind::kUnsupported},
    {"TypeNoText", R"({"a":{"dtype":8,"shape":[1],"data_offsets":[0,1]}})", 1,
     "array 'a' has the type 8", ErrorKind::kUnsupported},
    {"NegativeSize", R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", 1,
     "\"shape\" of array 'a' is not a list of sizes"},
    {"FractionalSize", R"({"a":{"dtype":"U8","shape":[1.0],"data_offsets":[0,1]}})", 1,
     "\"shape\" of array 'a' is not a list of sizes"},
    {"ShapeNoList", R"({"a":{"dtype":"U8","shape":1,"data_offsets":[0,1]}})", 1,
     "\"shape\" of array 'a' is not a list of sizes"},
    {"ThreeOffsets", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1,1]}})", 1,
     "not its begin and end"},
    {"EndBeforeBegin", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}})", 1,
     "not its begin and end"},
    {"OneElementTooMany", R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8,
     "of F32 x 3 has 8 bytes"},
    {"ElementsOverflow",
     R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0,
     "has too many elements"},
    {"SizeBeyondInt64",
     R"({"a":{"dtype":"U8","shape":[9223372036854775808],"data_offsets":[0,0]}})", 0,
     "has too many elements"},
    {"BytesOverflow", R"({"a":{"dtype":"I64","shape":[2305843009213693952],"data_offsets":[0,0]}})",
     0, "of I64 x 2305843009213693952 has 0 bytes"},
    {"Hole",
     R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
     R"("b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})",
     3, "array 'b' begins at byte 2 of the data, but the one before it ends at 1"},
    {"HoleAtTheStart", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2,
     "array 'a' begins at byte 1"},
    {"Overlap",
     R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
     R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
     3, "array 'b' begins at byte 1 of the data, but the one before it ends at 2"},
    {"Cut", R"({"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}})", 8,
     "the arrays take 9 bytes, but 8 follow the header"},
    {"Longer", R"({"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}})", 10,
     "the arrays take 9 bytes, but 10 follow the header"},
};

void PrintTo(const BadHeader& bad, std::ostream* out) { *out << bad.what; }

class BadSafetensors : public ::testing::TestWithParam<BadHeader> {};

TEST_P(BadSafetensors, IsRefusedWithPlaceAndAdvice) {
  const BadHeader& bad = GetParam();
  const Error error = ErrorOf([&] { ReadBytes(FileOf(bad.header, bad.data_bytes)); });
  EXPECT_EQ(error.kind(), bad.kind);
  EXPECT_THAT(error.reason(), HasSubstr(bad.reason));
  EXPECT_EQ(error.place().path, "a.safetensors");
  ASSERT_TRUE(error.place().offset);
  EXPECT_LE(*error.place().offset, FileOf(bad.header, bad.data_bytes).size());
  EXPECT_FALSE(error.advice().empty());
}

INSTANTIATE_TEST_SUITE_P(Safetensors, BadSafetensors, ::testing::ValuesIn(kBadHeaders),
                         [](const auto& each) { return each.param.what; });

TEST(Safetensors, AnErrorPointsAtTheArray) {
  const std::string header = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                             R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,2]}})";
  const Error error = ErrorOf([&] { ReadBytes(FileOf(header, 2)); });
  EXPECT_EQ(error.place().offset, 8 + header.find("\"b\""));
}

TEST(Safetensors, AFileOfAnotherProgramHasAnyOrderOfNamesAndNoChecksum) {
  const LoadedArrays loaded =
      ReadBytes(FileOf(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[1,3],"more":"ignored"},)"
                       R"("b":{"data_offsets":[0,1],"shape":[1],"dtype":"U8"}}     )",
                       3));
  EXPECT_THAT(Names(loaded), ElementsAre("b", "a"));
}

// Written by safetensors 0.8 for Python.
TEST(Safetensors, AFileOfTheFormsOwnPackageIsRead) {
  const LoadedArrays loaded =
      ReadSafetensors(PosixFiles(), GoldenPath("safetensors/package.safetensors"));
  EXPECT_EQ(loaded.metadata, (ArrayMetadata{{"format", "np"}}));
  EXPECT_THAT(Names(loaded), ElementsAre("steps", "layer.weight", "layer.bias"));
  EXPECT_EQ(loaded.arrays[1].shape, (Shape{2, 3}));
  EXPECT_EQ(loaded.arrays[2].type, ElementType::kF16);
  const auto* weights = static_cast<const uint8_t*>(loaded.arrays[1].data);
  EXPECT_EQ(LoadLittleEndian<float>(weights + 5 * sizeof(float)), 5);
}

TEST(Safetensors, ArraysThatCannotBeWrittenAreRefused) {
  const float value = 1;
  const auto refused = [](const std::vector<NamedArray>& arrays, const ArrayMetadata& metadata) {
    const Error error = ErrorOf([&] { Written(arrays, metadata); });
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument) << error.what();
    return error.reason();
  };
  const NamedArray good = {"a", ElementType::kF32, {1}, &value};
  EXPECT_THAT(refused({good, good}, {}), HasSubstr("two arrays are named 'a'"));
  EXPECT_THAT(refused({{"__metadata__", ElementType::kF32, {1}, &value}}, {}),
              HasSubstr("named '__metadata__'"));
  EXPECT_THAT(refused({{"a", ElementType::kF32, {2, -1}, &value}}, {}), HasSubstr("2x-1"));
  EXPECT_THAT(refused({{"a", ElementType::kF32, {1}, nullptr}}, {}), HasSubstr("has no data"));
  EXPECT_THAT(refused({{"\xff", ElementType::kF32, {1}, &value}}, {}), HasSubstr("UTF-8"));
  EXPECT_THAT(refused({good}, {{"a", "\xff"}}), HasSubstr("UTF-8"));
}

TEST(Safetensors, AFullDiskLeavesTheOldFileAlone) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.safetensors";
  const float values[1000] = {1};
  const NamedArray small = {"w", ElementType::kF32, {1}, values};
  const NamedArray large = {"w", ElementType::kF32, {1000}, values};
  FaultyFiles files;
  WriteSafetensors(files, path, {&small, 1}, {}, false);
  files.room = 2000;
  const Error error = ErrorOf([&] { WriteSafetensors(files, path, {&large, 1}, {}, false); });
  EXPECT_EQ(error.kind(), ErrorKind::kIo);
  EXPECT_EQ(error.place().path, path);
  EXPECT_EQ(ReadSafetensors(files, path).arrays[0].shape, Shape{1});
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

}  // namespace
}  // namespace recpack::train
