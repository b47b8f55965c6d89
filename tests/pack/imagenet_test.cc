#include "src/pack/sources/imagenet/imagenet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "recpack/base/file.h"
#include "tests/base/temporary_folder.h"
#include "tests/golden.h"
#include "tests/pack/source_testing.h"
#include "tests/pack/tar_building.h"

namespace recpack::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kDevkitMeta = GoldenPath("imagenet/meta.mat");

class ImagenetSourceTest : public ::testing::Test {
 protected:
  // Classes and images out of order, as archives may store them.
  std::string MakeTrain() {
    const std::string class1 = TarBuilder()
                                   .Add("n02000001_2.JPEG", PngHeader(2, 1))
                                   .Add("n02000001_10.JPEG", PngHeader(10, 1))
                                   .Finish();
    const std::string class0 = TarBuilder().Add("n01000009_1.JPEG", PngHeader(1, 1)).Finish();
    MakeFile(folder_ / "ILSVRC2012_img_train.tar",
             TarBuilder().Add("n02000001.tar", class1).Add("n01000009.tar", class0).Finish());
    return folder_ / "ILSVRC2012_img_train.tar";
  }

  std::string MakeValidation() {
    TarBuilder tar;
    for (const int number : {2, 3, 1}) tar.Add(ValidationName(number), PngHeader(number, 1));
    MakeFile(folder_ / "ILSVRC2012_img_val.tar", tar.Finish());
    return folder_ / "ILSVRC2012_img_val.tar";
  }

  static std::string ValidationName(int number) {
    return "ILSVRC2012_val_0000000" + std::to_string(number) + ".JPEG";
  }

  // Images 1, 2 and 3 have the kit's classes 2, 4 and 2.
  void MakeDevkit(const std::string& truth = "2\n4\n2\n") {
    const std::string data = folder_ / "ILSVRC2012_devkit_t12/data/";
    MakeFile(data + "ILSVRC2012_validation_ground_truth.txt", truth);
    std::filesystem::copy_file(kDevkitMeta, data + "meta.mat",
                               std::filesystem::copy_options::overwrite_existing);
  }

  TemporaryFolder folder_;
};

TEST_F(ImagenetSourceTest, ReadsTheArchiveOfArchives) {
  const auto source = OpenImagenet({.path = MakeTrain()});
  ASSERT_EQ(source->splits().size(), 1u);
  EXPECT_EQ(source->splits()[0].name, "train");
  EXPECT_THAT(source->class_names(), ElementsAre("n01000009", "n02000001"));
  EXPECT_THAT(ItemNames(*source, 0),
              ElementsAre("n01000009/n01000009_1.JPEG", "n02000001/n02000001_10.JPEG",
                          "n02000001/n02000001_2.JPEG"));
  const TestItem item = ReadItem(*source, 0, 1);
  EXPECT_EQ(item.text("image/encoded"), PngHeader(10, 1));
  EXPECT_EQ(item.text("image/filename"), "n02000001/n02000001_10.JPEG");
  EXPECT_EQ(item.text("image/class/text"), "n02000001");
  EXPECT_EQ(item.number("image/class/label"), 1);
  EXPECT_EQ(item.number("image/width"), 10);
  EXPECT_EQ(item.label, 1);
}

TEST_F(ImagenetSourceTest, ValidationImagesGetTheirLabelsFromTheDevkitBesideThem) {
  MakeDevkit();
  const auto source = OpenImagenet({.path = MakeValidation()});
  EXPECT_EQ(source->splits()[0].name, "validation");
  EXPECT_THAT(source->class_names(),
              ElementsAre("n01000009", "n02000001", "n02000002", "n02000003"));
  EXPECT_THAT(ItemNames(*source, 0),
              ElementsAre(ValidationName(2), ValidationName(1), ValidationName(3)));
  EXPECT_EQ(ReadItem(*source, 0, 0).text("image/class/text"), "n01000009");
  EXPECT_EQ(ReadItem(*source, 0, 1).text("image/class/text"), "n02000001");
  EXPECT_EQ(ReadItem(*source, 0, 1).label, 1);
  EXPECT_EQ(ReadItem(*source, 0, 1).text("image/encoded"), PngHeader(1, 1));
}

TEST_F(ImagenetSourceTest, AFolderHoldsBothSplitsWithOneNumbering) {
  MakeTrain();
  MakeValidation();
  MakeDevkit();
  const auto source = OpenImagenet({.path = folder_.path()});
  ASSERT_EQ(source->splits().size(), 2u);
  EXPECT_EQ(source->class_names().size(), 2u);
  EXPECT_EQ(ReadItem(*source, 1, 2).text("image/class/text"), "n02000001");
  EXPECT_EQ(ReadItem(*source, 1, 2).label, 1);
  EXPECT_TRUE(LooksLikeImagenet(folder_.path()));
}

TEST_F(ImagenetSourceTest, FlatFilesAndADevkitArchiveGiveTheSame) {
  MakeDevkit();
  const auto archive = OpenImagenet({.path = MakeValidation()});
  for (const int n : {1, 2, 3}) MakeFile(folder_ / ("flat/" + ValidationName(n)), PngHeader(n, 1));
  const ByteBuffer meta = ReadWholeFile(PosixFiles(), kDevkitMeta);
  const std::string kit = folder_ / "kit.tar.gz", data = "ILSVRC2012_devkit_t12/data/";
  MakeFile(kit, Gzip(TarBuilder()
                         .Add(data + "ILSVRC2012_validation_ground_truth.txt", "2\n4\n2\n")
                         .Add(data + "meta.mat", AsText(meta))
                         .Finish()));
  const auto flat = OpenImagenet({.path = folder_ / "flat", .devkit = kit});
  EXPECT_EQ(ItemNames(*flat, 0), ItemNames(*archive, 0));
  EXPECT_EQ(flat->Fingerprint(), archive->Fingerprint());
  EXPECT_EQ(ReadItem(*flat, 0, 2).bytes, ReadItem(*archive, 0, 2).bytes);
}

TEST_F(ImagenetSourceTest, ALabelListReplacesTheDevkit) {
  MakeFile(folder_ / "labels.txt", "n02000001\r\nn01000009\r\nn02000001\r\n");
  const auto source = OpenImagenet({.path = MakeValidation(), .labels = folder_ / "labels.txt"});
  EXPECT_EQ(ReadItem(*source, 0, 0).text("image/filename"), ValidationName(2));
  EXPECT_EQ(ReadItem(*source, 0, 0).label, 0);
}

TEST_F(ImagenetSourceTest, LabelListsAreCheckedLineByLine) {
  MakeFile(folder_ / "labels.txt", "n02000001\ncat\nn02000001\n");
  const std::string path = MakeValidation();
  const Error error =
      ErrorOf([&] { OpenImagenet({.path = path, .labels = folder_ / "labels.txt"}); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_THAT(error.what(), HasSubstr("line 2"));
}

TEST_F(ImagenetSourceTest, TooFewLabelsAreAnError) {
  MakeDevkit("2\n4\n");
  const std::string path = MakeValidation();
  const Error error = ErrorOf([&] { OpenImagenet({.path = path}); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_THAT(error.what(), HasSubstr("validation image 3"));
}

TEST_F(ImagenetSourceTest, ALabelThatTheKitDoesNotKnowIsAnError) {
  MakeDevkit("2\n1001\n2\n");  // 1001 is a synset, but not one without children
  const std::string path = MakeValidation();
  const Error error = ErrorOf([&] { OpenImagenet({.path = path}); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_THAT(error.what(), HasSubstr("line 2"));
}

TEST_F(ImagenetSourceTest, AClassWithoutTrainingImagesIsAnError) {
  MakeTrain();
  MakeValidation();
  MakeDevkit("2\n4\n1\n");
  EXPECT_THAT(ErrorOf([&] { OpenImagenet({.path = folder_.path()}); }).what(),
              HasSubstr("no training images"));
}

TEST_F(ImagenetSourceTest, MissingLabelsAreSaid) {
  const std::string path = MakeValidation();
  EXPECT_EQ(ErrorOf([&] { OpenImagenet({.path = path}); }).kind(), ErrorKind::kNotFound);
}

TEST_F(ImagenetSourceTest, ACutInnerArchiveIsAnErrorThatNamesIt) {
  const std::string inner = TarBuilder().Add("n02000001_2.JPEG", "x").bytes();  // no end mark
  MakeFile(folder_ / "ILSVRC2012_img_train.tar", TarBuilder().Add("n02000001.tar", inner).Finish());
  const Error error = ErrorOf([&] { OpenImagenet({.path = folder_.path()}); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_THAT(error.place().path, HasSubstr("ILSVRC2012_img_train.tar:n02000001.tar"));
}

TEST_F(ImagenetSourceTest, OtherArchivesAndFoldersAreRefused) {
  MakeFile(folder_ / "ILSVRC2012_img_train.tar", TarBuilder().Add("a.JPEG", "x").Finish());
  EXPECT_EQ(ErrorOf([&] { OpenImagenet({.path = folder_.path()}); }).kind(),
            ErrorKind::kInvalidArgument);
  const TemporaryFolder empty;
  EXPECT_EQ(ErrorOf([&] { OpenImagenet({.path = empty.path()}); }).kind(),
            ErrorKind::kInvalidArgument);
  EXPECT_EQ(ErrorOf([&] { OpenImagenet({.path = empty / "none"}); }).kind(), ErrorKind::kNotFound);
  EXPECT_FALSE(LooksLikeImagenet(empty.path()));
}

}  // namespace
}  // namespace recpack::pack
