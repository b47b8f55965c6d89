#include "recpack/base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "recpack/base/descriptor.h"
#include "recpack/base/error.h"
#include "tests/base/temporary_folder.h"

namespace recpack {
namespace {

TEST(FileTest, WritesAtomicallyAndReadsBack) {
  const TemporaryFolder folder;
  WriteFileAtomically(PosixFiles(), folder / "a", AsBytes("hello"));
  EXPECT_EQ(AsText(ReadWholeFile(PosixFiles(), folder / "a")), "hello");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(FileTest, WritesIntoAPipeAndDoesNotReplaceIt) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const Descriptor reader(::open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK));
  ASSERT_GE(reader.get(), 0);
  WriteFileAtomically(PosixFiles(), folder / "pipe", AsBytes("hello"));
  char text[8] = {};
  EXPECT_EQ(::read(reader.get(), text, sizeof text), 5);
  EXPECT_STREQ(text, "hello");
  EXPECT_TRUE(std::filesystem::is_fifo(folder / "pipe"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(FileTest, ReadsFewerBytesOnlyAtTheEnd) {
  const TemporaryFolder folder;
  WriteFileAtomically(PosixFiles(), folder / "a", AsBytes("hello"));
  const auto file = PosixFiles().OpenForReading(folder / "a");
  uint8_t bytes[4];
  EXPECT_EQ(file->ReadAt(0, bytes), 4u);
  EXPECT_EQ(file->ReadAt(3, bytes), 2u);
  EXPECT_EQ(file->ReadAt(9, bytes), 0u);
}

TEST(FileTest, WritesAndReadsFullyAtAnOffset) {
  const TemporaryFolder folder;
  const Descriptor file(::open((folder / "a").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_TRUE(WriteFully(file.get(), AsBytes("hello"), 3));
  uint8_t bytes[8];
  EXPECT_EQ(ReadFully(file.get(), bytes, 4), 4);
  EXPECT_EQ(AsText({bytes, 4}), "ello");
  EXPECT_EQ(ReadFully(file.get(), bytes, 8), 0);
}

TEST(FileTest, FailedReadsAndWritesAtAnOffsetLeaveErrno) {
  uint8_t bytes[8];
  const Descriptor full(::open("/dev/full", O_RDWR | O_CLOEXEC));
  errno = 0;
  EXPECT_FALSE(WriteFully(full.get(), AsBytes("hello"), 0));
  EXPECT_EQ(errno, ENOSPC);
  errno = 0;
  EXPECT_EQ(ReadFully(-1, bytes, 0), -1);
  EXPECT_EQ(errno, EBADF);
}

TEST(FileTest, MissingFileNamesThePath) {
  try {
    PosixFiles().OpenForReading("/nowhere/at/all");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
    EXPECT_EQ(error.place().path, "/nowhere/at/all");
  }
}

TEST(FileTest, RefusesAFileThatIsTooLong) {
  const TemporaryFolder folder;
  WriteFileAtomically(PosixFiles(), folder / "a", AsBytes("hello"));
  EXPECT_THROW(ReadWholeFile(PosixFiles(), folder / "a", 4), Error);
}

TEST(FileTest, MapsAFileAndAnEmptyOne) {
  const TemporaryFolder folder;
  WriteFileAtomically(PosixFiles(), folder / "a", AsBytes("hello"));
  WriteFileAtomically(PosixFiles(), folder / "b", {});
  MappedFile moved = MappedFile(folder / "a");
  EXPECT_EQ(AsText(moved.bytes()), "hello");
  EXPECT_TRUE(MappedFile(folder / "b").bytes().empty());
}

TEST(FileTest, ReadingAFolderIsAnError) {
  const TemporaryFolder folder;
  EXPECT_THROW(ReadWholeFile(PosixFiles(), folder.path()), Error);
}

}  // namespace
}  // namespace recpack
