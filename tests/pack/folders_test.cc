#include "recpack/base/folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "recpack/base/error.h"
#include "src/pack/job/pack.h"
#include "tests/base/synced_paths.h"
#include "tests/base/temporary_folder.h"
#include "tests/pack/fake_source.h"

namespace recpack::pack {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FoldersTest : public ::testing::Test {
 protected:
  std::set<std::string> SyncedByPack(bool sync, const std::string& name) {
    PackOptions options;
    options.out = folder_ / name;
    options.sync = sync;
    return SyncedBy([&] { Pack(FakeSource({{"train", 30}}), options); });
  }

  TemporaryFolder folder_;
  std::string top_ = std::filesystem::canonical(folder_.path());
};

TEST_F(FoldersTest, WhatIsMadeSurvivesAPowerCutWhereThatIsAskedFor) {
  EXPECT_THAT(SyncedBy([&] { MakeFolder(folder_ / "x/y"); }), IsEmpty());
  EXPECT_THAT(SyncedBy([&] { MakeFolder(folder_ / "a/b/c", true); }),
              ElementsAre(top_, top_ + "/a", top_ + "/a/b"));
  EXPECT_THAT(SyncedBy([&] { MakeFolder(folder_ / "a/b/c", true); }), IsEmpty());
  EXPECT_THAT(SyncedBy([&] { MakeFolder(folder_ / "a/d/", true); }), Contains(top_ + "/a"));
  EXPECT_TRUE(std::filesystem::is_directory(folder_ / "a/d"));
}

TEST_F(FoldersTest, AFileInTheWayIsAnError) {
  WriteFileAtomically(PosixFiles(), folder_ / "file", {}, false);
  for (const bool durable : {false, true}) {
    EXPECT_THROW(MakeFolder(folder_ / "file/a", durable), Error);
  }
}

TEST_F(FoldersTest, APackSyncsTheFolderThatItsOwnIsMadeIn) {
  const std::set<std::string> paths = SyncedByPack(true, "new/out");
  EXPECT_THAT(paths, Contains(top_));
  EXPECT_THAT(paths, Contains(top_ + "/new"));
  EXPECT_THAT(SyncedByPack(false, "other"), IsEmpty());
}

}  // namespace
}  // namespace recpack::pack
