#include "src/ceiling/scratch_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/record/reader.h"
#include "tests/base/temporary_folder.h"

namespace recpack::ceiling {
namespace {

constexpr uint64_t kMiB = 1 << 20;

TEST(ScratchFile, LeavesNothingBehind) {
  const TemporaryFolder folder;
  {
    const ScratchFile file = ScratchFile::OnDisk(folder.path(), 3 * kMiB, std::chrono::minutes(1));
    EXPECT_EQ(ReadWholeFile(PosixFiles(), file.path()).size(), 3 * kMiB);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ScratchFile, IsSmallerWhereWritingTakesTooLong) {
  const TemporaryFolder folder;
  const ScratchFile file =
      ScratchFile::OnDisk(folder.path(), 1000 * kMiB, std::chrono::nanoseconds(-1));
  EXPECT_EQ(ReadWholeFile(PosixFiles(), file.path()).size(), 2 * kMiB);
}

TEST(ScratchFile, SaysWhereNoneCanBeWritten) {
  try {
    ScratchFile::OnDisk("/proc", kMiB, std::chrono::minutes(1));
    FAIL() << "a file was made in /proc";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("/proc"));
  }
  EXPECT_THROW(ScratchFile::OnDisk("/nowhere", kMiB, std::chrono::minutes(1)), Error);
}

TEST(ScratchFile, AShardInMemoryIsReadAsAnyOther) {
  const ScratchFile shard = ScratchFile::CompressedShard(10, 1000);
  RecordReader reader(PosixFiles().OpenForReading(shard.path()), {});
  EXPECT_EQ(reader.compression(), Compression::kGzip);
  int records = 0;
  for (Record record; reader.Next(record); ++records) EXPECT_EQ(record.payload.size(), 1000u);
  EXPECT_EQ(records, 10);
}

}  // namespace
}  // namespace recpack::ceiling
