#include "src/train/checkpoint/checkpoint_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "recpack/base/error.h"
#include "tests/base/error_of.h"
#include "tests/base/faulty_files.h"
#include "tests/base/synced_paths.h"
#include "tests/base/temporary_folder.h"
#include "tests/train/run_state.h"

namespace recpack::train {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class CheckpointFolderTest : public ::testing::Test {
 protected:
  CheckpointFolder Open(size_t keep = 3) {
    return {files_, path_, {.keep = keep, .durable = false}};
  }

  static std::string Save(CheckpointFolder& folder, uint64_t step) {
    const RunState state(step);
    return folder.Save(state.info, state.arrays);
  }

  // Except the lock.
  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(path_)) names.insert(entry.path().filename());
    names.erase(".lock");
    return names;
  }

  std::string Latest() { return FindLatestCheckpoint(files_, path_).path.value_or("none"); }

  void Put(const std::string& name, std::string_view content) {
    WriteFileAtomically(PosixFiles(), path_ + "/" + name, AsBytes(content), false);
  }

  void Damage(const std::string& path) { fs::resize_file(path, fs::file_size(path) - 1); }

  FaultyFiles files_;
  TemporaryFolder folder_;
  std::string path_ = folder_ / "runs/a";  // does not exist yet
};

TEST_F(CheckpointFolderTest, TheLastOnesStay) {
  CheckpointFolder folder = Open(2);
  for (const uint64_t step : {5, 10, 15}) Save(folder, step);
  EXPECT_THAT(Names(), ElementsAre("step-00000010.safetensors", "step-00000015.safetensors"));
  EXPECT_EQ(Latest(), path_ + "/step-00000015.safetensors");
}

TEST_F(CheckpointFolderTest, OneIsTheLeastToKeep) {
  EXPECT_EQ(ErrorOf([&] { Open(0); }).kind(), ErrorKind::kInvalidArgument);
  CheckpointFolder folder = Open(1);
  EXPECT_EQ(Save(folder, 1), path_ + "/step-00000001.safetensors");
  EXPECT_EQ(Save(folder, 2), path_ + "/step-00000002.safetensors");
  EXPECT_THAT(Names(), SizeIs(1));
}

TEST_F(CheckpointFolderTest, StepsGoByNumberNotByText) {
  CheckpointFolder folder = Open(2);
  for (const uint64_t step : {99'999'999, 100'000'000, 1'000'000'001}) Save(folder, step);
  EXPECT_THAT(Names(), ElementsAre("step-100000000.safetensors", "step-1000000001.safetensors"));
  EXPECT_EQ(Latest(), path_ + "/step-1000000001.safetensors");
}

TEST_F(CheckpointFolderTest, LaterStepsStayWhenARunGoesBack) {
  {
    CheckpointFolder folder = Open(3);
    for (const uint64_t step : {10, 20, 30, 40}) Save(folder, step);
  }
  CheckpointFolder folder = Open(1);
  Save(folder, 25);
  EXPECT_THAT(Names(), ElementsAre("step-00000025.safetensors", "step-00000030.safetensors",
                                   "step-00000040.safetensors"));
}

TEST_F(CheckpointFolderTest, TellsOfTheLastStepThatIsThere) {
  CheckpointFolder folder = Open();
  EXPECT_EQ(folder.LastStep(), std::nullopt);
  for (const uint64_t step : {10, 9}) Save(folder, step);
  EXPECT_EQ(folder.LastStep(), 10u);
}

TEST_F(CheckpointFolderTest, TheFoldersThatAreMadeSurviveAPowerCut) {
  const std::string top = fs::canonical(folder_.path());
  EXPECT_THAT(SyncedBy([&] { CheckpointFolder(PosixFiles(), path_); }),
              ElementsAre(top, top + "/runs"));
}

TEST_F(CheckpointFolderTest, OtherFilesStay) {
  CheckpointFolder folder = Open(1);
  const std::set<std::string> others = {"notes.txt", "step-1.safetensors", "step-x.safetensors",
                                        "step-00000001.safetensors.bak", "step-00000001.json"};
  for (const auto& name : others) Put(name, "mine");
  Save(folder, 7);
  std::set<std::string> expected = others;
  expected.insert("step-00000007.safetensors");
  EXPECT_EQ(Names(), expected);
  EXPECT_EQ(Latest(), path_ + "/step-00000007.safetensors");
}

TEST_F(CheckpointFolderTest, NoFolderAndAnEmptyOneHaveNone) {
  EXPECT_EQ(Latest(), "none");
  Open();
  EXPECT_EQ(Latest(), "none");
}

TEST_F(CheckpointFolderTest, DamagedOnesArePassedOverAndNamed) {
  CheckpointFolder folder = Open();
  Save(folder, 1);
  Damage(Save(folder, 2));
  Put("step-00000003.safetensors", "");
  const LatestCheckpoint latest = FindLatestCheckpoint(files_, path_);
  EXPECT_EQ(latest.path, path_ + "/step-00000001.safetensors");
  ASSERT_THAT(latest.skipped, SizeIs(2));
  EXPECT_EQ(latest.skipped[0].path, path_ + "/step-00000003.safetensors");
  EXPECT_EQ(latest.skipped[1].path, path_ + "/step-00000002.safetensors");
  EXPECT_THAT(latest.skipped[1].reason, HasSubstr("bytes"));
}

TEST_F(CheckpointFolderTest, WithAllDamagedThereIsNone) {
  CheckpointFolder folder = Open();
  Damage(Save(folder, 2));
  const LatestCheckpoint latest = FindLatestCheckpoint(files_, path_);
  EXPECT_FALSE(latest.path);
  EXPECT_THAT(latest.skipped, SizeIs(1));
}

TEST_F(CheckpointFolderTest, TemporariesAreNoCheckpoints) {
  CheckpointFolder folder = Open();
  Put("step-00000009.safetensors.tmp-1", "half");
  EXPECT_EQ(Latest(), "none");
  EXPECT_TRUE(FindLatestCheckpoint(files_, path_).skipped.empty());
}

TEST_F(CheckpointFolderTest, ALinkToNowhereIsPassedOver) {
  CheckpointFolder folder = Open();
  Save(folder, 1);
  fs::create_symlink("nowhere", path_ + "/step-00000009.safetensors");
  EXPECT_EQ(Latest(), path_ + "/step-00000001.safetensors");
}

// A reader lists the folder, then its writer continues.
TEST_F(CheckpointFolderTest, AReaderFollowsAWriter) {
  CheckpointFolder folder = Open(1);
  Save(folder, 1);
  class Overtaken final : public RealFiles {
   public:
    explicit Overtaken(CheckpointFolder& folder) : folder_(folder) {}
    std::unique_ptr<ReadableFile> OpenForReading(const std::string& path) override {
      if (!std::exchange(overtaken_, true)) Save(folder_, 2);
      return RealFiles::OpenForReading(path);
    }

   private:
    CheckpointFolder& folder_;
    bool overtaken_ = false;
  };
  Overtaken files(folder);
  EXPECT_EQ(FindLatestCheckpoint(files, path_).path, path_ + "/step-00000002.safetensors");
}

TEST_F(CheckpointFolderTest, TheNextWriterRemovesWhatAKilledOneLeft) {
  Open();
  Put("step-00000009.safetensors.tmp-1", "half");
  Put("mine.tmp-1", "kept");
  Open();
  EXPECT_THAT(Names(), ElementsAre("mine.tmp-1"));
}

TEST_F(CheckpointFolderTest, AnotherRunIsKeptOut) {
  {
    const CheckpointFolder first = Open();
    Put("step-00000009.safetensors.tmp-1", "being written");
    const Error error = ErrorOf([&] { Open(); });
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("another run"));
    EXPECT_THAT(Names(), SizeIs(1));
  }
  EXPECT_NO_THROW(Open());
}

TEST_F(CheckpointFolderTest, AFullDiskLeavesTheOldOnes) {
  CheckpointFolder folder = Open(1);
  Save(folder, 1);
  files_.room = 100;
  EXPECT_EQ(ErrorOf([&] { Save(folder, 2); }).kind(), ErrorKind::kIo);
  EXPECT_THAT(Names(), ElementsAre("step-00000001.safetensors"));
  EXPECT_EQ(Latest(), path_ + "/step-00000001.safetensors");
}

TEST_F(CheckpointFolderTest, AFolderThatCannotBeMadeIsNamed) {
  WriteFileAtomically(PosixFiles(), folder_ / "runs", AsBytes("a file"), false);
  const Error error = ErrorOf([&] { Open(); });
  EXPECT_EQ(error.kind(), ErrorKind::kIo);
  EXPECT_EQ(error.place().path, path_);
}

}  // namespace
}  // namespace recpack::train
