#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/base/hash.h"
#include "src/pack/sources/cifar/cifar.h"
#include "src/pack/sources/cifar/pickle.h"
#include "src/stand_in/cifar.h"
#include "src/stand_in/picture.h"
#include "tests/base/temporary_folder.h"

namespace recpack::pack {
namespace {

using ::testing::SizeIs;

ByteBuffer Contents(const std::string& path) { return ReadWholeFile(PosixFiles(), path); }

TEST(StandInTest, IsReadAsCifarWithAllClasses) {
  const TemporaryFolder folder;
  stand_in::WriteCifar(folder / "a", {.rows_per_batch = 300});
  EXPECT_TRUE(LooksLikeCifar(folder / "a"));
  const auto source = OpenCifar({.path = folder / "a", .splits = "train,test"});
  EXPECT_EQ(source->splits()[0].items, 1500u);
  EXPECT_EQ(source->splits()[1].items, 300u);
  EXPECT_THAT(source->class_names(), SizeIs(10));
  std::set<int64_t> labels;
  const auto reader = source->NewReader();
  Sample sample;
  for (uint64_t i = 0; i < 300; ++i) {
    sample.features.Clear();
    reader->Read(1, i, sample);
    labels.insert(sample.label);
  }
  EXPECT_THAT(labels, SizeIs(10));
}

TEST(StandInTest, HasTheEntriesOfTheOriginals) {
  const TemporaryFolder folder;
  stand_in::WriteCifar(folder / "a", {.rows_per_batch = 3});
  const ByteBuffer bytes = Contents(folder / "a/data_batch_5");
  const PickleDocument document = ParsePickle({.memory = bytes});
  for (const char* key : {"data", "labels", "batch_label", "filenames"}) {
    EXPECT_NE(document.Find(document.root(), key), nullptr) << key;
  }
  EXPECT_THAT(document.Items(*document.Find(document.root(), "filenames")), SizeIs(3));
  const PickleValue& title = *document.Find(document.root(), "batch_label");
  EXPECT_EQ(AsText({title.data, title.size}), "training batch 5 of 5");
}

TEST(StandInTest, BytesFollowFromRowsAndSeed) {
  const TemporaryFolder folder;
  stand_in::WriteCifar(folder / "a", {.rows_per_batch = 20, .seed = 7});
  stand_in::WriteCifar(folder / "b", {.rows_per_batch = 20, .seed = 7});
  stand_in::WriteCifar(folder / "c", {.rows_per_batch = 20, .seed = 8});
  for (const char* name : {"/data_batch_1", "/test_batch", "/batches.meta"}) {
    EXPECT_EQ(Contents((folder / "a") + name), Contents((folder / "b") + name));
  }
  EXPECT_NE(Contents(folder / "a/test_batch"), Contents(folder / "c/test_batch"));
}

// Golden value: every machine must draw the same bytes.
TEST(StandInTest, PicturesAreTheSameEverywhere) {
  Sha256 digest;
  for (uint32_t label = 0; label < 10; ++label) {
    KeyedRandom random(1, 2, label);
    std::array<uint8_t, stand_in::kPixels> picture;
    stand_in::DrawPicture(label, random, picture);
    digest.Update(picture);
  }
  EXPECT_EQ(Hex(digest.Finish()),
            "2eed3e2c06f9bcf6d832d351c9ec8529016bfba27540016791e603255a99dc28");
}

// The nearest class mean classifies most but far from all pictures of other rows, so they are
// neither noise nor copies.
TEST(StandInTest, ClassesCanBeLearnt) {
  const auto draw = [](uint32_t row, std::array<uint8_t, stand_in::kPixels>& picture) {
    KeyedRandom random(3, 4, row);
    stand_in::DrawPicture(row % 10, random, picture);
  };
  std::array<uint8_t, stand_in::kPixels> picture;
  std::vector<std::array<double, stand_in::kPixels>> means(10);
  for (uint32_t row = 0; row < 1000; ++row) {
    draw(row, picture);
    for (size_t i = 0; i < picture.size(); ++i) means[row % 10][i] += picture[i] / 100.0;
  }
  int right = 0;
  for (uint32_t row = 1000; row < 1300; ++row) {
    draw(row, picture);
    std::vector<double> distances(10);
    for (size_t label = 0; label < 10; ++label) {
      for (size_t i = 0; i < picture.size(); ++i) {
        const double difference = picture[i] - means[label][i];
        distances[label] += difference * difference;
      }
    }
    const auto nearest = std::min_element(distances.begin(), distances.end()) - distances.begin();
    right += nearest == row % 10;
  }
  EXPECT_GT(right, 150);
  EXPECT_LT(right, 300);
}

TEST(StandInTest, FilesThatAreThereAreNotReplaced) {
  const TemporaryFolder folder;
  WriteFileAtomically(PosixFiles(), folder / "data_batch_3", AsBytes("mine"), false);
  try {
    stand_in::WriteCifar(folder.path(), {.rows_per_batch = 2});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
  }
  EXPECT_EQ(AsText(Contents(folder / "data_batch_3")), "mine");
  EXPECT_FALSE(PosixFiles().Exists(folder / "data_batch_1"));
}

TEST(StandInTest, NoRowsOrTooManyAreRefused) {
  const TemporaryFolder folder;
  EXPECT_THROW(stand_in::WriteCifar(folder / "a", {.rows_per_batch = 0}), Error);
  EXPECT_THROW(stand_in::WriteCifar(folder / "a", {.rows_per_batch = 500001}), Error);
}

}  // namespace
}  // namespace recpack::pack
