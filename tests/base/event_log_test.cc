#include "recpack/base/event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "recpack/base/event_record.h"
#include "src/base/format.h"

namespace recpack {
namespace {

namespace fs = std::filesystem;
using testing::IsNull;
using testing::NotNull;

class EventLogTest : public testing::Test {
 protected:
  EventLogTest() : folder_(format("{}recpack-events-{}", testing::TempDir(), ::getpid())) {
    fs::create_directories(folder_);
    ::setenv("RECPACK_EVENTS", folder_.c_str(), 1);
  }
  ~EventLogTest() override {
    ::unsetenv("RECPACK_EVENTS");
    fs::remove_all(folder_);
  }

  std::vector<EventRecord> Records(const std::string& writer) const {
    std::ifstream file(format("{}/{}-{}.events", folder_, ::getpid(), writer), std::ios::binary);
    std::vector<EventRecord> records;
    for (EventRecord record; file.read(reinterpret_cast<char*>(&record), sizeof record);) {
      records.push_back(record);
    }
    return records;
  }

  const std::string folder_;
};

TEST_F(EventLogTest, ThereIsNoneWhereNobodyWatches) {
  ::unsetenv("RECPACK_EVENTS");
  EXPECT_THAT(EventLog::Open("x"), IsNull());
}

TEST_F(EventLogTest, ThereIsNoneWhereNoFileCanBeWritten) {
  ::setenv("RECPACK_EVENTS", (folder_ + "/nowhere").c_str(), 1);
  EXPECT_THAT(EventLog::Open("x"), IsNull());
}

TEST_F(EventLogTest, WritesWhatItIsTold) {
  const auto log = EventLog::Open("x");
  ASSERT_THAT(log, NotNull());
  const std::string long_name = "a name that is longer than one record holds";
  const uint32_t name = log->Name(long_name);
  EXPECT_EQ(log->Name(long_name), name);
  log->Write({.kind = EventKind::kCopy,
              .copy = CopyKind::kDeviceToHost,
              .device = 3,
              .lane = 7,
              .name = name,
              .begin = 10,
              .end = 30,
              .value = 4096});
  log->Flush();
  const auto records = Records("x");
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[0].kind, EventRecord::kProcess);
  EXPECT_EQ(records[0].value, kEventsMagic);
  EXPECT_EQ(records[0].lane, static_cast<uint32_t>(::getpid()));
  std::string read;
  for (const size_t i : {1, 2}) {
    EXPECT_EQ(records[i].kind, EventRecord::kName);
    EXPECT_EQ(records[i].name, name);
    read.append(reinterpret_cast<const char*>(&records[i].begin), records[i].flags);
  }
  EXPECT_EQ(read, long_name);
  EXPECT_EQ(records[3].kind, static_cast<uint8_t>(EventKind::kCopy));
  EXPECT_EQ(records[3].flags, static_cast<int>(CopyKind::kDeviceToHost) << 4);
  EXPECT_EQ(records[3].device, 3);
  EXPECT_EQ(records[3].lane, 7u);
  EXPECT_EQ(records[3].begin, 10);
  EXPECT_EQ(records[3].end, 30);
  EXPECT_EQ(records[3].value, 4096u);
}

TEST_F(EventLogTest, AnOpenSpanIsSeenWhileItLasts) {
  const auto log = EventLog::Open("x");
  {
    const EventSpan span(log.get(), {.kind = EventKind::kInputWait}, true);
    const auto records = Records("x");
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[1].flags, EventRecord::kOpen);
    EXPECT_EQ(records[1].end, 0);
  }
  log->Flush();
  const auto records = Records("x");
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[2].flags, 0);
  EXPECT_EQ(records[2].begin, records[1].begin);
  EXPECT_GE(records[2].end, records[2].begin);
}

TEST_F(EventLogTest, NothingIsLostOfManyThatAreNotWaitedFor) {
  constexpr int64_t kEvents = 5000;
  {
    const auto log = EventLog::Open("x");
    for (int64_t i = 0; i < kEvents; ++i) log->Write({.begin = i, .end = i + 1});
  }
  const auto records = Records("x");
  ASSERT_EQ(records.size(), size_t{kEvents} + 1);
  for (int64_t i = 0; i < kEvents; ++i) EXPECT_EQ(records[static_cast<size_t>(i) + 1].begin, i);
}

// The child writes to its own file and does not use its parent's mutex.
TEST_F(EventLogTest, AForkedChildHasAFileOfItsOwn) {
  ASSERT_THAT(EventLog::OfProcess(), NotNull());
  ASSERT_EQ(EventLog::ThreadLane(), static_cast<uint32_t>(::gettid()));
  const pid_t child = ::fork();
  if (child == 0) {
    EventLog* const log = EventLog::OfProcess();
    if (log == nullptr) ::_exit(1);
    if (EventLog::ThreadLane() != static_cast<uint32_t>(::gettid())) ::_exit(2);
    log->Write({.begin = 5, .end = 6});
    log->Flush();
    ::_exit(0);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(fs::file_size(format("{}/{}-recpack.events", folder_, child)), 2 * sizeof(EventRecord));
  EXPECT_EQ(Records("recpack").size(), 1u);
}

}  // namespace
}  // namespace recpack
