#include "src/shards/index/indexed_shards.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/base/temporary_folder.h"

namespace recpack {
namespace {

Index IndexOf(const std::string& path, const std::vector<std::string>& names) {
  IndexWriter writer(PosixFiles().Create(path));
  for (const auto& name : names) {
    ShardEntries entries;
    entries.name = name;
    writer.AddShard(entries);
  }
  writer.Finish(false);
  return Index::Open(path);
}

TEST(IndexedShardsTest, FindsEachWhateverTheirOrder) {
  const TemporaryFolder folder;
  const std::vector<std::string> names = {"b", "a", "ab", "c-2", "c-10", "c-1"};
  const IndexedShards shards(IndexOf(folder / "x.recindex", names));
  for (size_t i = 0; i < names.size(); ++i) EXPECT_EQ(shards.Find(names[i]), i) << names[i];
}

TEST(IndexedShardsTest, FindsNothingElse) {
  const TemporaryFolder folder;
  const IndexedShards shards(IndexOf(folder / "x.recindex", {"b", "ab"}));
  for (const char* name : {"", "a", "bb", "c", "x/b"}) EXPECT_FALSE(shards.Find(name)) << name;
  EXPECT_FALSE(IndexedShards(IndexOf(folder / "y.recindex", {})).Find("a"));
}

}  // namespace
}  // namespace recpack
