#include "src/pack/sources/imagenet/mat_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recpack/base/file.h"
#include "tests/golden.h"
#include "tests/pack/source_testing.h"

namespace recpack::pack {
namespace {

using ::testing::ElementsAre;

ByteBuffer Golden(const char* name) {
  return ReadWholeFile(PosixFiles(), GoldenPath(std::string("imagenet/") + name));
}

class MatFileTest : public ::testing::TestWithParam<const char*> {};

TEST_P(MatFileTest, ReadsTextsAndNumbersOfAStructureArray) {
  const MatStruct synsets = ReadMatStruct(Golden(GetParam()), "synsets");
  EXPECT_THAT(synsets.fields, ElementsAre("ILSVRC2012_ID", "WNID", "words", "gloss", "num_children",
                                          "children", "wordnet_height", "num_train_images"));
  ASSERT_EQ(synsets.elements, 5u);
  EXPECT_EQ(synsets.Cell(1, 1).text, "n02000001");
  EXPECT_THAT(synsets.Cell(1, 0).numbers, ElementsAre(2));
  EXPECT_THAT(synsets.Cell(4, 0).numbers, ElementsAre(1001));
  EXPECT_THAT(synsets.Cell(4, 5).numbers, ElementsAre(1, 2));
  EXPECT_EQ(synsets.FieldIndex("WNID"), 1u);
  EXPECT_EQ(ErrorOf([&] { synsets.FieldIndex("none"); }).kind(), ErrorKind::kCorrupt);
}

TEST_P(MatFileTest, EveryPrefixIsAnErrorOfItsOwnKind) {
  const ByteBuffer bytes = Golden(GetParam());
  // `synsets` is not the last variable, so a long prefix may contain all of it.
  for (size_t size = 0; size < bytes.size(); ++size) {
    try {
      EXPECT_EQ(ReadMatStruct(ByteView(bytes).first(size), "synsets").elements, 5u);
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind() == ErrorKind::kCorrupt || error.kind() == ErrorKind::kNotFound);
    }
  }
}

TEST_P(MatFileTest, AFlippedByteNeverDoesMoreThanThrow) {
  const ByteBuffer bytes = Golden(GetParam());
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      ByteBuffer damaged = bytes;
      damaged[i] = static_cast<uint8_t>(damaged[i] ^ flip);
      try {
        ReadMatStruct(damaged, "synsets");
      } catch (const Error&) {
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Both, MatFileTest, ::testing::Values("meta.mat", "meta-plain.mat"));

TEST(MatFileErrorTest, OtherVariablesAndVersionsAreToldApart) {
  ByteBuffer bytes = Golden("meta-plain.mat");
  EXPECT_EQ(ErrorOf([&] { ReadMatStruct(bytes, "none"); }).kind(), ErrorKind::kNotFound);
  EXPECT_EQ(ErrorOf([&] { ReadMatStruct(bytes, "other"); }).kind(), ErrorKind::kCorrupt);
  bytes[125] = 2;
  EXPECT_EQ(ErrorOf([&] { ReadMatStruct(bytes, "synsets"); }).kind(), ErrorKind::kUnsupported);
}

}  // namespace
}  // namespace recpack::pack
