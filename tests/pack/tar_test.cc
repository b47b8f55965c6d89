#include "src/pack/sources/tar/tar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "recpack/image/encode.h"
#include "tests/base/temporary_folder.h"
#include "tests/pack/source_testing.h"
#include "tests/pack/tar_building.h"

namespace recpack::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TarSourceTest : public ::testing::Test {
 protected:
  std::string Make(const std::string& name, std::string_view bytes) {
    MakeFile(folder_ / name, bytes);
    return folder_ / name;
  }
  std::string MakeTar(const TarBuilder& tar) { return Make("a.tar", tar.Finish()); }

  static TarBuilder TwoSamples() {
    return TarBuilder()
        .Add("n1/a.txt", "hello")
        .Add("n1/a.cls", "7")
        .Add("n1/b.txt", "world!")
        .Add("n1/b.cls", "3\n");
  }

  TemporaryFolder folder_;
};

TEST_F(TarSourceTest, GroupsMembersByKeyAndNamesFeaturesByExtension) {
  const auto source = OpenTar({.path = MakeTar(TwoSamples()), .split = "val"});
  ASSERT_EQ(source->splits()[0].items, 2u);
  EXPECT_EQ(source->splits()[0].name, "val");
  const TestItem item = ReadItem(*source, 0, 1);
  EXPECT_THAT(item.names(), ElementsAre("__key__", "cls", "txt"));
  EXPECT_EQ(item.text("__key__"), "n1/b");
  EXPECT_EQ(item.text("txt"), "world!");
  EXPECT_EQ(item.number("cls"), 3);
  EXPECT_EQ(item.label, 3);
  EXPECT_THAT(source->ItemName(0, 1), HasSubstr("a.tar:n1/b"));
}

TEST_F(TarSourceTest, TheExtensionBeginsAtTheFirstDotInLowerCase) {
  const auto source = OpenTar({.path = MakeTar(TarBuilder().Add("v1.0/x.Seg.PNG", "s"))});
  EXPECT_THAT(ReadItem(*source, 0, 0).names(), ElementsAre("__key__", "seg.png"));
  EXPECT_EQ(ReadItem(*source, 0, 0).text("__key__"), "v1.0/x");
}

TEST_F(TarSourceTest, AClassThatIsNoNumberStaysBytes) {
  const auto source = OpenTar({.path = MakeTar(TarBuilder().Add("x.cls", "cat"))});
  EXPECT_EQ(ReadItem(*source, 0, 0).text("cls"), "cat");
  EXPECT_EQ(ReadItem(*source, 0, 0).label, -1);
}

TEST_F(TarSourceTest, EqualKeysApartOrInAnotherArchiveAreOtherSamples) {
  Make("x/1.tar", TarBuilder().Add("a.t", "1").Add("b.t", "2").Add("a.t", "3").Finish());
  Make("x/0.tar", TarBuilder().Add("a.t", "0").Finish());
  const auto source = OpenTar({.path = folder_ / "x"});
  ASSERT_EQ(source->splits()[0].items, 4u);
  std::string all;
  for (int i = 0; i < 4; ++i) all += ReadItem(*source, 0, i).text("t");
  EXPECT_EQ(all, "0123");
}

TEST_F(TarSourceTest, ReadsLongNamesOfBothKindsAndNamesThatAreNotAscii) {
  const std::string folder(150, 'd');
  const auto source = OpenTar({.path = MakeTar(TarBuilder()
                                                   .AddPax(folder + "/\xc3\xa4.txt", "pax")
                                                   .AddGnuLong(folder + "/gnu.txt", "gnu")
                                                   .Add("\xff.txt", "raw"))});
  EXPECT_EQ(ReadItem(*source, 0, 0).text("__key__"), folder + "/\xc3\xa4");
  EXPECT_EQ(ReadItem(*source, 0, 0).text("txt"), "pax");
  EXPECT_EQ(ReadItem(*source, 0, 1).text("__key__"), folder + "/gnu");
  EXPECT_EQ(ReadItem(*source, 0, 1).text("txt"), "gnu");
  EXPECT_EQ(ReadItem(*source, 0, 2).text("__key__"), "\xff");
}

TEST_F(TarSourceTest, ReadsMembersThatLieFarApart) {
  const std::string large(100'000, 'x');
  const auto source = OpenTar(
      {.path = MakeTar(TarBuilder().Add("a.txt", "1").Add("a.big", large).Add("a.cls", "2")),
       .fields = {{"label", "cls"}, {"caption", "txt"}}});
  const TestItem item = ReadItem(*source, 0, 0);
  EXPECT_THAT(item.names(), ElementsAre("__key__", "caption", "image/class/label"));
  EXPECT_EQ(item.text("caption"), "1");
  EXPECT_EQ(item.label, 2);
}

TEST_F(TarSourceTest, MapsFieldsToTheFeaturesOfImages) {
  const TarBuilder tar = TarBuilder().Add("a.png", PngHeader(5, 6)).Add("a.cls", "4");
  const auto source =
      OpenTar({.path = MakeTar(tar), .fields = ParseFieldMap("image=jpg;png,label=cls")});
  const TestItem item = ReadItem(*source, 0, 0);
  EXPECT_THAT(item.names(), ElementsAre("__key__", "image/class/label", "image/encoded",
                                        "image/format", "image/height", "image/width"));
  EXPECT_EQ(item.text("image/format"), "PNG");
  EXPECT_EQ(item.number("image/class/label"), 4);
}

TEST_F(TarSourceTest, ASampleWithoutAMappedMemberIsAnError) {
  const auto source = OpenTar({.path = MakeTar(TarBuilder().Add("a.txt", "1").Add("b.cls", "1")),
                               .fields = {{"label", "cls"}}});
  const Error error = ErrorOf([&] { ReadItem(*source, 0, 0); });
  EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
  EXPECT_THAT(error.what(), HasSubstr("a.tar:a"));
  EXPECT_EQ(ReadItem(*source, 0, 1).label, 1);
}

TEST_F(TarSourceTest, AMappedLabelMustBeANumber) {
  const auto source =
      OpenTar({.path = MakeTar(TarBuilder().Add("a.cls", "cat")), .fields = {{"label", "cls"}}});
  EXPECT_EQ(ErrorOf([&] { ReadItem(*source, 0, 0); }).kind(), ErrorKind::kCorrupt);
}

TEST_F(TarSourceTest, TwoImagesOfASampleAreBothTiled) {
  Image image;
  image.Reshape(256, 64, 3);
  const ByteBuffer first = EncodeJpeg(image);
  std::ranges::fill(image.pixels, uint8_t{200});
  const ByteBuffer second = EncodeJpeg(image);
  const auto source = OpenTar(
      {.path = MakeTar(TarBuilder().Add("a.jpg", AsText(first)).Add("a.jpeg", AsText(second))),
       .image = {.tile = true}});
  const TestItem item = ReadItem(*source, 0, 0);
  EXPECT_NE(item.text("jpg"), item.text("jpeg"));
  EXPECT_NE(item.text("jpg"), AsText(first));
}

TEST_F(TarSourceTest, ResizeNeedsToKnowTheImage) {
  const std::string path = MakeTar(TwoSamples());
  EXPECT_EQ(ErrorOf([&] { OpenTar({.path = path, .image = {.resize = 8}}); }).kind(),
            ErrorKind::kInvalidArgument);
}

TEST_F(TarSourceTest, CompressedArchivesGiveTheSameItems) {
  const std::string tar = TwoSamples().Finish();
  const std::string half = tar.substr(0, 1000), rest = tar.substr(1000);
  Make("x/0.tar", tar);
  Make("x/1.tar.gz", Gzip(tar));
  Make("x/2.tar.zst", Zstd(tar));
  Make("x/3.tgz", Gzip(half) + Gzip(rest));
  const auto source = OpenTar({.path = folder_ / "x", .work_folder = folder_.path()});
  ASSERT_EQ(source->splits()[0].items, 8u);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(ReadItem(*source, 0, i).text("txt"), i % 2 == 0 ? "hello" : "world!") << i;
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1)
      << "the work folder holds a file with a name";
}

TEST_F(TarSourceTest, ExpandsBracesAndGlobs) {
  for (int i = 8; i < 12; ++i) {
    Make("s-" + std::string(i < 10 ? "0" : "") + std::to_string(i) + ".tar",
         TarBuilder().Add("a.t", std::to_string(i)).Finish());
  }
  const auto braces = OpenTar({.path = folder_ / "s-{09..11}.tar"});
  ASSERT_EQ(braces->splits()[0].items, 3u);
  EXPECT_EQ(ReadItem(*braces, 0, 0).text("t"), "9");
  EXPECT_EQ(OpenTar({.path = folder_ / "s-*.tar"})->splits()[0].items, 4u);
  EXPECT_EQ(OpenTar({.path = folder_ / "s-{08,11}.tar"})->splits()[0].items, 2u);
  const auto overlapping = OpenTar({.path = folder_ / "s-{11,*}.tar"});
  EXPECT_EQ(overlapping->splits()[0].items, 4u);
  EXPECT_EQ(ReadItem(*overlapping, 0, 0).text("t"), "11");
  EXPECT_EQ(ErrorOf([&] { OpenTar({.path = folder_ / "s-{08..13}.tar"}); }).kind(),
            ErrorKind::kNotFound);
  EXPECT_EQ(ErrorOf([&] { OpenTar({.path = folder_ / "t-*.tar"}); }).kind(), ErrorKind::kNotFound);
  EXPECT_EQ(ErrorOf([&] { OpenTar({.path = folder_ / "s-{b..a}.tar"}); }).kind(),
            ErrorKind::kInvalidArgument);
}

TEST_F(TarSourceTest, PartsOfAPatternMayOverlapPathsOfAListMayNot) {
  std::filesystem::create_directory(folder_ / "x");
  const std::string tar = Make("x/a.tar", TwoSamples().Finish());
  EXPECT_EQ(OpenTar({.path = folder_ / "{x,x/a.tar,./x/*}"})->splits()[0].items, 2u);
  for (const std::string& other : {tar, folder_ / "x", folder_ / "x/*.tar", folder_ / "x/../x"}) {
    const Error error = ErrorOf([&] { OpenTar({.path = tar, .further_paths = {other}}); });
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument) << other;
    EXPECT_THAT(error.what(), HasSubstr("is listed twice")) << other;
  }
}

TEST_F(TarSourceTest, EveryCutOfAnArchiveIsAnError) {
  const std::string tar = TwoSamples().bytes();
  for (size_t size = 0; size <= tar.size(); size += size % 512 == 0 ? 200 : 312) {
    const std::string path = Make("cut.tar", tar.substr(0, size));
    const ErrorKind kind = ErrorOf([&] { OpenTar({.path = path}); }).kind();
    EXPECT_EQ(kind, size < 512 ? ErrorKind::kInvalidArgument : ErrorKind::kCorrupt) << size;
  }
}

TEST_F(TarSourceTest, EveryCutOfACompressedArchiveIsAnError) {
  for (const std::string& packed : {Gzip(TwoSamples().Finish()), Zstd(TwoSamples().Finish())}) {
    for (size_t size = 6; size < packed.size(); ++size) {
      const std::string path = Make("cut.tar.gz", packed.substr(0, size));
      EXPECT_EQ(ErrorOf([&] { OpenTar({.path = path}); }).kind(), ErrorKind::kCorrupt) << size;
    }
  }
}

TEST_F(TarSourceTest, AGzipChecksumThatDoesNotHoldIsAnError) {
  std::string packed = Gzip(TwoSamples().Finish());
  packed[packed.size() - 8] ^= 1;
  const std::string path = Make("a.tar.gz", packed);
  EXPECT_EQ(ErrorOf([&] { OpenTar({.path = path}); }).kind(), ErrorKind::kCorrupt);
}

TEST_F(TarSourceTest, ADamagedHeaderIsAnError) {
  std::string tar = TwoSamples().Finish();
  tar[1024 + 3] ^= 0x20;  // in the second member's name
  const Error error = ErrorOf([&] { OpenTar({.path = Make("a.tar", tar)}); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(error.place().path, folder_ / "a.tar");
}

TEST_F(TarSourceTest, DataBehindTheEndMarkIsAnError) {
  const std::string tar = TwoSamples().Finish();
  EXPECT_THAT(ErrorOf([&] { OpenTar({.path = Make("a.tar", tar + tar)}); }).what(),
              HasSubstr("after its end mark"));
}

TEST_F(TarSourceTest, MembersOutsideOfTheArchiveAreRefused) {
  for (const char* name : {"/etc/a.txt", "../a.txt", "x/../../a.txt"}) {
    const std::string path = MakeTar(TarBuilder().Add(name, "x"));
    const Error error = ErrorOf([&] { OpenTar({.path = path}); });
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt) << name;
    EXPECT_THAT(error.what(), HasSubstr("outside"));
  }
}

TEST_F(TarSourceTest, AMemberThatIsThereTwiceIsRefused) {
  const std::string path = MakeTar(TarBuilder().Add("a.txt", "1").Add("a.txt", "2"));
  EXPECT_EQ(ErrorOf([&] { OpenTar({.path = path}); }).kind(), ErrorKind::kCorrupt);
}

TEST_F(TarSourceTest, SaysWhatItLeftOut) {
  const auto source = OpenTar({.path = MakeTar(TarBuilder()
                                                   .Add("dir/", "", '5')
                                                   .Add("README", "x")
                                                   .Add("__meta__/a.txt", "x")
                                                   .Add("link.txt", "", '2')
                                                   .Add("a.txt", "1"))});
  EXPECT_EQ(source->splits()[0].items, 1u);
  EXPECT_THAT(source->Notices(), ElementsAre(HasSubstr("2 members without"), HasSubstr("1 links")));
}

TEST_F(TarSourceTest, AnArchiveThatChangedIsNoticed) {
  const std::string path = MakeTar(TwoSamples());
  const auto source = OpenTar({.path = path});
  MakeFile(path, TarBuilder().Add("n1/a.txt", "h").Finish());
  EXPECT_EQ(ErrorOf([&] { ReadItem(*source, 0, 0); }).kind(), ErrorKind::kCorrupt);
}

TEST_F(TarSourceTest, RefusesWhatHoldsNoSamplesOrIsNoTar) {
  EXPECT_EQ(ErrorOf([&] { OpenTar({.path = MakeTar(TarBuilder())}); }).kind(),
            ErrorKind::kInvalidArgument);
  EXPECT_EQ(ErrorOf([&] { OpenTar({.path = Make("b.tar", std::string(2000, 'x'))}); }).kind(),
            ErrorKind::kInvalidArgument);
  EXPECT_EQ(ErrorOf([&] { OpenTar({.path = folder_ / "none.tar"}); }).kind(), ErrorKind::kNotFound);
}

TEST_F(TarSourceTest, IsRecognisedByNames) {
  Make("x/a.tar", "");
  EXPECT_TRUE(LooksLikeTar(folder_ / "x"));
  EXPECT_TRUE(LooksLikeTar("s-{00..11}.tar.gz"));
  EXPECT_FALSE(LooksLikeTar(folder_.path()));
  EXPECT_FALSE(LooksLikeTar("a.tfrecord"));
}

TEST_F(TarSourceTest, FingerprintDependsOnNamesAndSizes) {
  const auto of = [&](const TarBuilder& tar) {
    return OpenTar({.path = MakeTar(tar)})->Fingerprint();
  };
  const std::string before = of(TarBuilder().Add("a.txt", "1"));
  EXPECT_EQ(before, of(TarBuilder().Add("a.txt", "2")));
  EXPECT_NE(before, of(TarBuilder().Add("a.txt", "12")));
  EXPECT_NE(before, of(TarBuilder().Add("b.txt", "1")));
  EXPECT_NE(before, of(TarBuilder().Add("a.tyt", "1")));
}

TEST(FieldMapTest, ReadsRulesAndRefusesOthers) {
  const FieldMap fields = ParseFieldMap("image=jpg;png,label=cls");
  ASSERT_EQ(fields.size(), 2u);
  EXPECT_EQ(fields[0].target, "image");
  EXPECT_TRUE(ParseFieldMap("").empty());
  EXPECT_EQ(fields[0].from, "jpg;png");
  for (const char* text : {"image", "=x", "x=", "a=b,,c=d", "a=b,a=c"}) {
    EXPECT_THROW(ParseFieldMap(text), Error) << text;
  }
}

}  // namespace
}  // namespace recpack::pack
