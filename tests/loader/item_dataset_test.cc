// Data sets without shards: class folders, tar archives, lists.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "recpack/base/error.h"
#include "recpack/loader/loader.h"
#include "recpack/loader/token.h"
#include "src/pack/job/pack.h"
#include "src/pack/sources/folder/folder.h"
#include "src/pack/sources/list/list.h"
#include "src/pack/sources/tar/tar.h"
#include "tests/base/temporary_folder.h"
#include "tests/loader/dataset_records.h"
#include "tests/pack/source_testing.h"
#include "tests/pack/tar_building.h"

namespace recpack {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class ItemDatasetTest : public testing::Test {
 protected:
  // Classes ant and bee, in splits train and val.
  std::string ClassFolders() {
    for (int i = 0; i < 23; ++i) {
      const std::string split = i % 4 == 3 ? "val" : "train";
      pack::MakeFile(format_("photos/{}/{}/{}.png", split, i % 2 == 0 ? "ant" : "bee", i),
                     pack::PngHeader(10 + i, 20) + std::string(i * 10, 'x'));
    }
    return folder_ / "photos";
  }

  // Two archives of 5 samples each.
  std::string Tars() {
    for (int t = 0; t < 2; ++t) {
      pack::TarBuilder tar;
      for (int i = 0; i < 5; ++i) {
        const std::string key = "a/" + std::to_string(t * 5 + i);
        tar.Add(key + ".png", pack::PngHeader(8, 9 + i)).Add(key + ".cls", std::to_string(i + 1));
        if (i == 2) tar.Add(key + ".txt", "words");
      }
      pack::MakeFile(TarPath(t), tar.Finish());
    }
    return folder_ / "x-{000..001}.tar";
  }
  std::string TarPath(int t) const { return folder_ / ("x-00" + std::to_string(t) + ".tar"); }

  // Records that packing writes, in the source's order.
  std::vector<ByteBuffer> Packed(const pack::Source& source, const std::string& split) {
    pack::PackOptions options;
    options.out = folder_ / ("packed" + std::to_string(++packs_));
    options.sync = false;
    pack::Pack(source, options);
    return Records(Dataset::Open(options.out, {.split = split}));
  }

  template <typename... Parts>
  std::string format_(std::string pattern, const Parts&... parts) {
    const auto put = [&](const std::string& part) { pattern.replace(pattern.find("{}"), 2, part); };
    const auto text = [](const auto& part) {
      if constexpr (std::is_arithmetic_v<std::decay_t<decltype(part)>>) {
        return std::to_string(part);
      } else {
        return std::string(part);
      }
    };
    (put(text(parts)), ...);
    return folder_ / pattern;
  }

  TemporaryFolder folder_;
  int packs_ = 0;
};

TEST_F(ItemDatasetTest, ClassFoldersGiveTheRecordsThatPackingWrites) {
  const std::string path = ClassFolders();
  const auto source = pack::OpenFolder({.path = path});
  for (const std::string split : {"train", "validation"}) {
    const Dataset dataset = Dataset::Open(path, {.split = split});
    EXPECT_EQ(Records(dataset), Packed(*source, split)) << split;
    EXPECT_EQ(dataset.class_names(), (std::vector<std::string>{"ant", "bee"}));
  }
  EXPECT_EQ(Dataset::Open(path).split(), "train");
  EXPECT_EQ(Dataset::Open(path).FindPlace(0).path, path + "/train/ant/0.png");
  EXPECT_THAT(pack::ErrorOf([&] { Dataset::Open(path, {.split = "test"}); }).advice(),
              HasSubstr("train, validation"));
}

TEST_F(ItemDatasetTest, TarsGiveTheRecordsThatPackingWrites) {
  const std::string pattern = Tars();
  const auto expected = Packed(*pack::OpenTar({.path = pattern}), "train");
  ASSERT_EQ(expected.size(), 10u);
  EXPECT_EQ(Records(Dataset::Open(pattern)), expected);
  EXPECT_EQ(Records(Dataset::Open(folder_ / "x-*.tar")), expected);
  EXPECT_EQ(Records(Dataset::Open({TarPath(0), TarPath(1)}, {})), expected);
  const FieldMap fields = ParseFieldMap("image=jpg;png,label=cls");
  EXPECT_EQ(Records(Dataset::Open(pattern, {.fields = fields})),
            Packed(*pack::OpenTar({.path = pattern, .fields = fields}), "train"));
}

TEST_F(ItemDatasetTest, ListsGiveTheRecordsThatPackingWrites) {
  ClassFolders();
  pack::MakeFile(folder_ / "list.csv",
                 "file,label,weight\nphotos/train/ant/0.png,a,0.5\n"
                 "photos/train/bee/1.png,b,2\n");
  const std::string path = folder_ / "list.csv";
  EXPECT_EQ(Records(Dataset::Open(path)), Packed(*pack::OpenList({.path = path}), "train"));
}

TEST_F(ItemDatasetTest, ReadsAtRandomAndFromSeveralThreads) {
  const Dataset dataset = Dataset::Open(Tars());
  LoaderOptions options = {
      .fields = {NumbersField{.name = "cls"}, IdField{}}, .batch_size = 5, .threads = 3};
  options.order.kind = OrderKind::kGlobal;
  Loader loader(dataset, options);
  std::vector<int64_t> seen(10);
  while (const auto batch = loader.Next()) {
    for (uint32_t i = 0; i < batch->size(); ++i) {
      const uint64_t id = batch->ids()[i];
      EXPECT_EQ(batch->Data<int64_t>("cls")[i], static_cast<int64_t>(id % 5 + 1));
      ++seen[id];
    }
  }
  EXPECT_EQ(seen, std::vector<int64_t>(10, 1));
}

TEST_F(ItemDatasetTest, CompressedTarsAreRefusedWithTheWayOut) {
  pack::MakeFile(folder_ / "a.tar.gz", pack::Gzip(pack::TarBuilder().Add("1.txt", "one").Finish()));
  const Error error = pack::ErrorOf([&] { Dataset::Open(folder_ / "a.tar.gz"); });
  EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
  EXPECT_EQ(error.place().path, folder_ / "a.tar.gz");
  EXPECT_THAT(error.advice(), HasSubstr("recpack pack"));
}

TEST_F(ItemDatasetTest, ATarThatIsCutOffIsNamedWithTheOffset) {
  Tars();
  fs::resize_file(TarPath(1), fs::file_size(TarPath(1)) - 1024);
  const Error error = pack::ErrorOf([&] { Dataset::Open(folder_ / "x-*.tar"); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(error.place().path, TarPath(1));
  EXPECT_EQ(error.place().offset, fs::file_size(TarPath(1)));
}

TEST_F(ItemDatasetTest, WhatChangesAfterOpeningIsNamed) {
  const std::string path = ClassFolders();
  const Dataset photos = Dataset::Open(path);
  const Dataset tars = Dataset::Open(Tars());
  fs::remove(path + "/train/ant/0.png");
  fs::resize_file(path + "/train/ant/10.png", 5);
  fs::resize_file(TarPath(1), 700);
  ByteBuffer memory;
  const Error gone = pack::ErrorOf([&] { photos.NewSource()->Read(0, memory); });
  EXPECT_EQ(gone.kind(), ErrorKind::kNotFound);
  EXPECT_EQ(gone.place().path, path + "/train/ant/0.png");
  const Error cut = pack::ErrorOf([&] { photos.NewSource()->Read(1, memory); });
  EXPECT_EQ(cut.kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(cut.place().path, path + "/train/ant/10.png");
  EXPECT_THAT(cut.what(), HasSubstr("now has 5"));
  EXPECT_NO_THROW(tars.NewSource()->Read(4, memory));
  const Error tar = pack::ErrorOf([&] { tars.NewSource()->Read(9, memory); });
  EXPECT_EQ(tar.kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(tar.place().path, TarPath(1));
  EXPECT_EQ(pack::ErrorOf([&] { photos.NewSource()->Read(1000, memory); }).kind(),
            ErrorKind::kInvalidArgument);
}

TEST_F(ItemDatasetTest, ATokenKnowsTheFolderAndSaysWhatChanged) {
  const std::string path = ClassFolders();
  const std::string digest = Dataset::Open(path).digest();
  fs::rename(path, folder_ / "moved");
  EXPECT_EQ(Dataset::Open(folder_ / "moved").digest(), digest);
  pack::MakeFile(folder_ / "moved/train/bee/99.png", pack::PngHeader(3, 3));
  const Dataset more = Dataset::Open(folder_ / "moved");
  EXPECT_THAT(more.DifferenceFrom(digest), testing::EndsWith("among bee"));
  // Digests depend on sizes, not on contents.
  fs::remove(folder_ / "moved/train/bee/99.png");
  pack::MakeFile(folder_ / "moved/train/ant/0.png", pack::PngHeader(77, 20));
  EXPECT_EQ(Dataset::Open(folder_ / "moved").digest(), digest);
  pack::MakeFile(folder_ / "moved/train/ant/0.png", pack::PngHeader(77, 20) + "x");
  EXPECT_THAT(Dataset::Open(folder_ / "moved").DifferenceFrom(digest),
              testing::EndsWith("among ant"));

  LoaderOptions options = {.fields = {IdField{}}, .batch_size = 2, .threads = 1};
  Loader loader(more, options);
  loader.Next();
  EXPECT_LT(loader.Token().size(), 200u);
  options.resume = loader.Token();
  EXPECT_NO_THROW(Loader(more, options));
  EXPECT_THAT(pack::ErrorOf([&] { Loader(Dataset::Open(folder_ / "moved"), options); }).what(),
              HasSubstr("ant, bee"));
}

TEST_F(ItemDatasetTest, ATokenKnowsTheArchives) {
  const std::string pattern = Tars();
  const std::string digest = Dataset::Open(pattern).digest();
  EXPECT_EQ(Dataset::Open(pattern, {.fields = ParseFieldMap("label=cls")}).digest(), digest);
  pack::MakeFile(TarPath(1), pack::TarBuilder().Add("a/5.cls", "1").Finish());
  EXPECT_THAT(Dataset::Open(pattern).DifferenceFrom(digest), testing::EndsWith("among x-001.tar"));
}

TEST_F(ItemDatasetTest, ListsHoldOneKind) {
  const std::string path = ClassFolders();
  Tars();
  EXPECT_EQ(pack::ErrorOf([&] {
              Dataset::Open({TarPath(0), path}, {});
            }).kind(),
            ErrorKind::kUnsupported);
  EXPECT_EQ(pack::ErrorOf([&] {
              Dataset::Open({path, path}, {});
            }).kind(),
            ErrorKind::kUnsupported);
  EXPECT_EQ(
      pack::ErrorOf([&] { Dataset::Open(path, {.fields = ParseFieldMap("image=jpg")}); }).kind(),
      ErrorKind::kInvalidArgument);
}

}  // namespace
}  // namespace recpack
