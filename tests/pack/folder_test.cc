#include "src/pack/sources/folder/folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/audio/wav_file.h"
#include "tests/base/temporary_folder.h"
#include "tests/pack/source_testing.h"

namespace recpack::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FolderSourceTest : public ::testing::Test {
 protected:
  void Make(const std::string& name, std::string_view content = "x") {
    MakeFile(folder_ / name, content);
  }
  std::unique_ptr<Source> Open(FolderOptions options = {}) {
    options.path = folder_.path();
    return OpenFolder(options);
  }

  TemporaryFolder folder_;
};

TEST_F(FolderSourceTest, ClassFoldersAreOneSplitSortedByName) {
  Make("dog/b.txt");
  Make("dog/a.txt");
  Make("cat/z.txt");
  const auto source = Open();
  ASSERT_EQ(source->splits().size(), 1u);
  EXPECT_EQ(source->splits()[0].name, "train");
  EXPECT_THAT(source->class_names(), ElementsAre("cat", "dog"));
  EXPECT_THAT(ItemNames(*source, 0), ElementsAre("cat/z.txt", "dog/a.txt", "dog/b.txt"));
  EXPECT_TRUE(source->sorted_by_class());
}

TEST_F(FolderSourceTest, OrderAndFingerprintDoNotDependOnThreadsOrCreationOrder) {
  const TemporaryFolder other;
  for (int i = 0; i < 40; ++i) {
    const auto name = [](int n) {
      return "c" + std::to_string(n % 7) + "/s/" + std::to_string(n * 37 % 40);
    };
    Make(name(i), std::to_string(i));
    MakeFile(other / name(39 - i), std::to_string(39 - i));
  }
  const auto one = Open({.threads = 1});
  const auto many = OpenFolder({.path = other.path(), .threads = 5});
  EXPECT_EQ(ItemNames(*one, 0), ItemNames(*many, 0));
  EXPECT_EQ(one->Fingerprint(), many->Fingerprint());
  EXPECT_EQ(one->splits()[0].items, 40u);
}

TEST_F(FolderSourceTest, FingerprintChangesWithASizeAndWithAName) {
  Make("a/1");
  Make("a/2");
  const std::string before = Open()->Fingerprint();
  Make("a/2", "longer");
  const std::string longer = Open()->Fingerprint();
  EXPECT_NE(before, longer);
  std::filesystem::rename(folder_ / "a/2", folder_ / "a/3");
  EXPECT_NE(Open()->Fingerprint(), longer);
}

TEST_F(FolderSourceTest, SplitFoldersBecomeSplitsWithOneSetOfClasses) {
  Make("val/dog/1");
  Make("train/dog/1");
  Make("train/cat/1");
  Make("test/ape/1");
  const auto source = Open();
  ASSERT_EQ(source->splits().size(), 3u);
  EXPECT_EQ(source->splits()[0].name, "train");
  EXPECT_EQ(source->splits()[1].name, "validation");
  EXPECT_EQ(source->splits()[2].name, "test");
  EXPECT_THAT(source->class_names(), ElementsAre("ape", "cat", "dog"));
  EXPECT_EQ(ReadItem(*source, 1, 0).label, 2);
  EXPECT_EQ(ReadItem(*source, 2, 0).label, 0);
}

TEST_F(FolderSourceTest, ASplitWithoutClassFoldersHasNoLabels) {
  Make("train/cat/1");
  Make("test/1.txt");
  const auto source = Open();
  const TestItem item = ReadItem(*source, 1, 0);
  EXPECT_EQ(item.label, -1);
  EXPECT_THAT(item.names(), ElementsAre("image/encoded", "image/filename", "image/format"));
}

TEST_F(FolderSourceTest, PlainFilesAreOneSplitWithoutClasses) {
  Make("b");
  Make("a");
  const auto source = Open();
  EXPECT_THAT(ItemNames(*source, 0), ElementsAre("a", "b"));
  EXPECT_TRUE(source->class_names().empty());
  EXPECT_FALSE(source->sorted_by_class());
}

TEST_F(FolderSourceTest, TrainBesideOtherFoldersIsAmbiguous) {
  Make("train/cat/1");
  Make("extra/cat/1");
  EXPECT_EQ(ErrorOf([&] { Open(); }).kind(), ErrorKind::kInvalidArgument);
  EXPECT_EQ(Open({.layout = FolderOptions::Layout::kClasses})->class_names().size(), 2u);
  EXPECT_EQ(Open({.layout = FolderOptions::Layout::kSplits})->splits().size(), 2u);
}

TEST_F(FolderSourceTest, ValAndValidationTogetherAreRefused) {
  Make("val/cat/1");
  Make("validation/cat/1");
  EXPECT_EQ(ErrorOf([&] { Open(); }).kind(), ErrorKind::kInvalidArgument);
}

TEST_F(FolderSourceTest, WritesTheFeaturesOfAnImage) {
  Make("cat/sub/1.png", PngHeader(31, 17));
  const TestItem item = ReadItem(*Open(), 0, 0);
  EXPECT_EQ(item.text("image/encoded"), PngHeader(31, 17));
  EXPECT_EQ(item.text("image/format"), "PNG");
  EXPECT_EQ(item.number("image/width"), 31);
  EXPECT_EQ(item.number("image/height"), 17);
  EXPECT_EQ(item.number("image/class/label"), 0);
  EXPECT_EQ(item.text("image/class/text"), "cat");
  EXPECT_EQ(item.text("image/filename"), "cat/sub/1.png");
  EXPECT_EQ(item.label, 0);
}

TEST_F(FolderSourceTest, OtherFilesKeepTheirBytesAndSayTheirExtension) {
  Make("cat/1.npy", std::string_view("\0\xff\0", 3));
  const TestItem item = ReadItem(*Open(), 0, 0);
  EXPECT_EQ(item.text("image/encoded"), std::string_view("\0\xff\0", 3));
  EXPECT_EQ(item.text("image/format"), "NPY");
  EXPECT_FALSE(item.ints.contains("image/height"));
}

TEST_F(FolderSourceTest, WritesTheFeaturesOfASound) {
  const ByteBuffer file = WavOf16({1, 2, 3, 4, 5, 6}, 2, 16000);
  Make("cat/1.wav", AsText(file));
  Make("cat/2.png", PngHeader(4, 3));
  const auto source = Open();
  const TestItem item = ReadItem(*source, 0, 0);
  EXPECT_THAT(item.names(),
              ElementsAre("audio/channels", "audio/encoded", "audio/filename", "audio/format",
                          "audio/frames", "audio/rate", "label", "label/text"));
  EXPECT_EQ(item.text("audio/encoded"), AsText(file));
  EXPECT_EQ(item.text("audio/format"), "WAV");
  EXPECT_EQ(item.number("audio/rate"), 16000);
  EXPECT_EQ(item.number("audio/channels"), 2);
  EXPECT_EQ(item.number("audio/frames"), 3);
  EXPECT_EQ(item.text("audio/filename"), "cat/1.wav");
  EXPECT_EQ(item.number("label"), 0);
  EXPECT_EQ(item.text("label/text"), "cat");
  EXPECT_EQ(item.label, 0);
  EXPECT_EQ(ReadItem(*source, 0, 1).text("image/format"), "PNG") << "each file by its kind";
}

TEST_F(FolderSourceTest, SoundsAreRecognisedByBytesOrName) {
  Make("a", AsText(WavOf16({1})));
  Make("b.flac", "fLaC");
  Make("c.wav", AsText(WavOf({.tag = 6, .bits = 8}, {})));  // A-law
  Make("d.mp3", PngHeader(4, 3));
  Make("e.Wav", "other");
  Make("f.wav", "ID3 and so on");
  const auto source = Open();
  EXPECT_EQ(ReadItem(*source, 0, 0).number("audio/frames"), 1);
  for (const auto& [item, format] : {std::pair(1, "FLAC"), {2, "WAV"}, {4, "WAV"}, {5, "MP3"}}) {
    const TestItem other = ReadItem(*source, 0, static_cast<uint64_t>(item));
    EXPECT_THAT(other.names(), ElementsAre("audio/encoded", "audio/filename", "audio/format"));
    EXPECT_EQ(other.text("audio/format"), format);
  }
  EXPECT_EQ(ReadItem(*source, 0, 3).text("image/format"), "PNG");
}

TEST_F(FolderSourceTest, ACutWavNamesTheFile) {
  ByteBuffer file = WavOf16({1, 2, 3});
  file.pop_back();
  Make("cat/1.wav", AsText(file));
  const auto source = Open();
  const Error error = ErrorOf([&] { ReadItem(*source, 0, 0); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_THAT(error.what(), HasSubstr("cat/1.wav"));
  EXPECT_THAT(error.what(), HasSubstr("1 bytes of samples are missing"));
}

TEST_F(FolderSourceTest, FilesWithoutAWholeHeaderAreNamed) {
  Make("a.wav", "RIFF....");
  Make("b.mp3", std::string_view(PngHeader(4, 3)).substr(0, 12));
  const auto source = Open();
  uint64_t item = 0;
  for (const char* name : {"a.wav", "b.mp3"}) {
    const Error error = ErrorOf([&] { ReadItem(*source, 0, item); });
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
    EXPECT_THAT(error.what(), HasSubstr(name));
    ++item;
  }
}

TEST_F(FolderSourceTest, NamesNeedNotBeUtf8) {
  Make("\xff\xfe/\xc3.bin");
  const auto source = Open();
  EXPECT_EQ(ReadItem(*source, 0, 0).text("image/filename"), "\xff\xfe/\xc3.bin");
  EXPECT_THAT(source->class_names(), ElementsAre("\xff\xfe"));
}

TEST_F(FolderSourceTest, LeavesOutHiddenSpecialAndStrayFilesAndSaysSo) {
  Make("cat/1");
  Make("cat/.DS_Store");
  Make("README");
  ASSERT_EQ(::mkfifo((folder_ / "cat/pipe").c_str(), 0600), 0);
  const auto source = Open();
  EXPECT_THAT(ItemNames(*source, 0), ElementsAre("cat/1"));
  EXPECT_THAT(source->Notices(), ElementsAre(HasSubstr("1 files beside"), HasSubstr("1 hidden"),
                                             HasSubstr("1 special")));
}

TEST_F(FolderSourceTest, FollowsLinksToFilesAndFolders) {
  Make("elsewhere/deep/1", "abc");
  std::filesystem::create_directories(folder_ / "in/cat");
  std::filesystem::create_symlink(folder_ / "elsewhere/deep/1", folder_ / "in/cat/link");
  std::filesystem::create_directory_symlink(folder_ / "elsewhere", folder_ / "in/dog");
  const auto source = OpenFolder({.path = folder_ / "in"});
  EXPECT_THAT(ItemNames(*source, 0), ElementsAre("cat/link", "dog/deep/1"));
  EXPECT_EQ(ReadItem(*source, 0, 0).text("image/encoded"), "abc");
}

TEST_F(FolderSourceTest, ALinkToAFolderAboveIsAnError) {
  Make("cat/sub/1");
  std::filesystem::create_directory_symlink(folder_ / "cat", folder_ / "cat/sub/loop");
  const Error error = ErrorOf([&] { Open(); });
  EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
  EXPECT_EQ(error.place().path, folder_ / "cat/sub/loop");
}

TEST_F(FolderSourceTest, ADanglingLinkFailsWhenItIsRead) {
  Make("cat/1");
  std::filesystem::create_symlink(folder_ / "nowhere", folder_ / "cat/2");
  const auto source = Open();
  EXPECT_EQ(ErrorOf([&] { ReadItem(*source, 0, 1); }).kind(), ErrorKind::kNotFound);
  EXPECT_EQ(ReadItem(*source, 0, 0).text("image/encoded"), "x");
}

TEST_F(FolderSourceTest, AnEmptyFileIsCorrupt) {
  Make("cat/1", "");
  const Error error = ErrorOf([&] { ReadItem(*Open(), 0, 0); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(error.place().path, folder_ / "cat/1");
}

TEST_F(FolderSourceTest, AFileThatGrewShrankOrWentIsNoticed) {
  Make("cat/1", "12345");
  const auto source = Open();
  const auto reader = source->NewReader();
  Sample sample;
  Make("cat/1", "1234567");
  EXPECT_THAT(ErrorOf([&] { reader->Read(0, 0, sample); }).what(), HasSubstr("changed"));
  Make("cat/1", "123");
  const Error shrunk = ErrorOf([&] { reader->Read(0, 0, sample); });
  EXPECT_EQ(shrunk.kind(), ErrorKind::kCorrupt);
  EXPECT_THAT(shrunk.what(), HasSubstr("changed"));
  std::filesystem::remove(folder_ / "cat/1");
  EXPECT_EQ(ErrorOf([&] { reader->Read(0, 0, sample); }).kind(), ErrorKind::kNotFound);
  Make("cat/1", "54321");
  reader->Read(0, 0, sample);  // the reader can still be used
}

TEST_F(FolderSourceTest, ABrokenImageHeaderNamesTheFile) {
  Make("cat/1.png", PngHeader(3, 3).substr(0, 20));
  const Error error = ErrorOf([&] { ReadItem(*Open(), 0, 0); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(error.place().path, folder_ / "cat/1.png");
}

TEST_F(FolderSourceTest, AnEmptyClassFolderIsNamed) {
  Make("cat/1");
  std::filesystem::create_directory(folder_ / "dog");
  const Error error = ErrorOf([&] { Open(); });
  EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
  EXPECT_EQ(error.place().path, folder_ / "dog");
}

TEST_F(FolderSourceTest, AClassMayBeEmptyInOneSplit) {
  Make("train/cat/1");
  Make("train/dog/1");
  Make("val/cat/1");
  std::filesystem::create_directory(folder_ / "val/dog");
  EXPECT_EQ(Open()->splits()[1].items, 1u);
}

TEST_F(FolderSourceTest, RefusesWhatHoldsNoFilesOrIsNoFolder) {
  EXPECT_EQ(ErrorOf([&] { Open(); }).kind(), ErrorKind::kInvalidArgument);
  EXPECT_EQ(ErrorOf([&] { OpenFolder({.path = folder_ / "none"}); }).kind(), ErrorKind::kNotFound);
  Make("file");
  EXPECT_EQ(ErrorOf([&] { OpenFolder({.path = folder_ / "file"}); }).kind(),
            ErrorKind::kInvalidArgument);
  EXPECT_FALSE(LooksLikeFolder(folder_ / "file"));
  EXPECT_TRUE(LooksLikeFolder(folder_.path()));
}

TEST_F(FolderSourceTest, AFolderThatCannotBeReadIsNamed) {
  Make("cat/1");
  Make("dog/1");
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod((folder_ / "dog").c_str(), 0), 0);
  const bool root = ::geteuid() == 0;  // root can read everything
  constexpr uid_t kNobody = 65534;
  if (root) {
    ASSERT_EQ(::seteuid(kNobody), 0);
  }
  const Error error = ErrorOf([&] { Open({.threads = 1}); });
  if (root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  ::chmod((folder_ / "dog").c_str(), 0700);
  EXPECT_EQ(error.kind(), ErrorKind::kIo);
  EXPECT_EQ(error.place().path, folder_ / "dog");
}

TEST_F(FolderSourceTest, RefusesImageOptionsThatCannotBe) {
  Make("cat/1");
  EXPECT_EQ(ErrorOf([&] { Open({.image = {.resize = 8, .quality = 101}}); }).kind(),
            ErrorKind::kInvalidArgument);
}

}  // namespace
}  // namespace recpack::pack
