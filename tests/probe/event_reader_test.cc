#include "src/probe/events/event_reader.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "recpack/base/descriptor.h"
#include "recpack/base/event_record.h"
#include "src/base/format.h"
#include "tests/base/forked.h"

namespace recpack::probe {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class EventReaderTest : public testing::Test {
 protected:
  EventReaderTest() : folder_(format("{}recprobe-events-{}", testing::TempDir(), ::getpid())) {
    fs::create_directories(folder_);
    ::setenv("RECPACK_EVENTS", folder_.c_str(), 1);
  }
  ~EventReaderTest() override {
    ::unsetenv("RECPACK_EVENTS");
    fs::remove_all(folder_);
  }

  std::string File(const std::string& writer) const {
    return format("{}/{}-{}.events", folder_, ::getpid(), writer);
  }

  const std::string folder_;
};

TEST_F(EventReaderTest, GivesWhatCameSinceTheLastCall) {
  EventReader reader(folder_);
  EXPECT_THAT(reader.Poll(), IsEmpty());
  const auto log = EventLog::Open("x");
  const std::string name = "the name of a kernel that takes several records";
  log->Write(
      {.kind = EventKind::kDevice, .device = 2, .name = log->Name(name), .begin = 1, .end = 2});
  log->Flush();
  const auto first = reader.Poll();
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_EQ(first[0].name, name);
  EXPECT_EQ(first[0].process, ::getpid());
  EXPECT_EQ(first[0].event.device, 2);
  log->Write({.kind = EventKind::kStep, .begin = 3, .end = 4, .value = 9});
  log->Flush();
  const auto second = reader.Poll();
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_EQ(second[0].event.value, 9u);
  EXPECT_EQ(second[0].name, "");
  EXPECT_THAT(reader.Poll(), IsEmpty());
}

TEST_F(EventReaderTest, ARecordThatIsHalfThereComesWhenItIsWhole) {
  EventLog::Open("x")->Write({.begin = 1, .end = 2});
  std::ifstream file(File("x"), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  fs::resize_file(File("x"), bytes.size() - 5);
  EventReader reader(folder_);
  EXPECT_THAT(reader.Poll(), IsEmpty());
  std::ofstream(File("x"), std::ios::binary | std::ios::app) << bytes.substr(bytes.size() - 5);
  EXPECT_THAT(reader.Poll(), SizeIs(1));
  EXPECT_THAT(reader.damage(), IsEmpty());
}

// Files of ended processes are not polled, but events in them are not lost.
TEST_F(EventReaderTest, FilesOfProcessesThatEndedAreReadToTheirEnds) {
  EXPECT_EQ(InChild([] {
              EventLog::Open("x")->Write({.begin = 1, .end = 2});
              return true;
            }),
            0);
  EventReader reader(folder_);
  EXPECT_THAT(reader.Poll(), SizeIs(1));
  EXPECT_THAT(reader.Poll(), IsEmpty());
  const std::string path = fs::directory_iterator(folder_)->path();
  std::ifstream file(path, std::ios::binary);
  std::string record(sizeof(EventRecord), '\0');
  file.seekg(-static_cast<std::streamoff>(record.size()), std::ios::end);
  file.read(record.data(), static_cast<std::streamsize>(record.size()));
  const auto append = [&] { std::ofstream(path, std::ios::binary | std::ios::app) << record; };
  append();
  EXPECT_THAT(reader.PollAll(), SizeIs(1));
  append();
  EXPECT_THAT(reader.Poll(), SizeIs(1));
  EXPECT_THAT(reader.Poll(), IsEmpty());
  append();
  size_t polls = 1;
  while (reader.Poll().empty()) ASSERT_LT(++polls, 1000u);
  EXPECT_GT(polls, 1u);
}

TEST_F(EventReaderTest, GivesAboutAsManyAtATimeAsItIsAskedFor) {
  constexpr size_t kMany = 30'000;
  for (const char* writer : {"a", "b"}) {
    const auto log = EventLog::Open(writer);
    for (size_t i = 0; i < kMany; ++i) {
      log->Write({.kind = EventKind::kStep, .begin = 1, .end = 2, .value = i});
    }
  }
  EventReader reader(folder_);
  size_t events = 0, calls = 0;
  for (;;) {
    const auto some = reader.Poll(100);
    if (some.empty()) break;
    EXPECT_LT(some.size(), 5000u);
    events += some.size();
    ASSERT_LT(++calls, 1000u);
  }
  EXPECT_EQ(events, 2 * kMany);
  EXPECT_GT(calls, 10u);
}

TEST_F(EventReaderTest, GivesRoomOnTheDiskBackWhereItIsAskedTo) {
  const auto log = EventLog::Open("x");
  const auto room = [&] {
    struct stat file;
    EXPECT_EQ(::stat(File("x").c_str(), &file), 0);
    return file.st_blocks * 512;
  };
  const auto write = [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i)
      log->Write({.kind = EventKind::kStep, .begin = i, .end = i});
    log->Flush();
  };
  EventReader keeper(folder_), reader(folder_, std::chrono::seconds(0)),
      later(folder_, EventReader::kWrittenBack);
  constexpr int64_t kMany = 100'000;  // 4 MB
  write(0, kMany);
  const auto full = room();
  EXPECT_THAT(keeper.Poll(), SizeIs(kMany));
  EXPECT_EQ(room(), full);
  EXPECT_THAT(later.Poll(), SizeIs(kMany));
  EXPECT_THAT(reader.Poll(), SizeIs(kMany));
  write(kMany, kMany + 1);
  EXPECT_THAT(later.Poll(), SizeIs(1));
  EXPECT_GE(room(), full) << "it may not be on the disk yet";
  EXPECT_THAT(reader.Poll(), SizeIs(1));
  const Descriptor file(::open(File("x").c_str(), O_WRONLY));
  if (::fallocate(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) != 0) {
    GTEST_SKIP() << "this file system has no holes";
  }
  EXPECT_LT(room(), full / 10);
  // Appended events are read.
  write(kMany + 1, kMany + 4);
  const auto rest = reader.Poll();
  ASSERT_THAT(rest, SizeIs(3));
  EXPECT_EQ(rest[0].event.begin, kMany + 1);
  EXPECT_EQ(rest[0].process, ::getpid());
  EXPECT_THAT(reader.damage(), IsEmpty());
}

TEST_F(EventReaderTest, FilesThatComeLaterAreFound) {
  EventReader reader(folder_);
  for (int i = 0; i < 5; ++i) {
    EXPECT_THAT(reader.Poll(), IsEmpty());
    EventLog::Open(std::to_string(i))->Write({.begin = 1, .end = 2});
    EXPECT_THAT(reader.Poll(), SizeIs(1));
  }
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(folder_, long_ago);
  EXPECT_THAT(reader.Poll(), IsEmpty());
  EventLog::Open("later")->Write({.begin = 1, .end = 2});
  EXPECT_THAT(reader.Poll(), SizeIs(1));
  // A file system whose times have a resolution of days.
  fs::last_write_time(folder_, long_ago);
  EXPECT_THAT(reader.Poll(), IsEmpty());
  EventLog::Open("unseen")->Write({.begin = 1, .end = 2});
  fs::last_write_time(folder_, long_ago);
  EXPECT_THAT(reader.Poll(), IsEmpty());
  EXPECT_THAT(reader.PollAll(), SizeIs(1));
}

TEST_F(EventReaderTest, AFileThatIsNoneIsNamedOnceAndTheOthersAreRead) {
  std::ofstream(File("a")) << std::string(200, 'a');
  EventLog::Open("b")->Write({.begin = 1, .end = 2});
  EventReader reader(folder_);
  EXPECT_THAT(reader.Poll(), SizeIs(1));
  EXPECT_THAT(reader.Poll(), IsEmpty());
  EXPECT_THAT(reader.damage(), ElementsAre(HasSubstr("-a.events: invalid record at byte 0")));
}

TEST_F(EventReaderTest, AfterAnExecNamesBeginAnew) {
  {
    const auto log = EventLog::Open("x");
    log->Write({.name = log->Name("before"), .begin = 1, .end = 2});
  }
  const auto log = EventLog::Open("x");
  log->Write({.name = log->Name("after"), .begin = 3, .end = 4});
  log->Flush();
  const auto events = EventReader(folder_).Poll();
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0].name, "before");
  EXPECT_EQ(events[1].name, "after");
}

}  // namespace
}  // namespace recpack::probe
