#include "src/probe/events/event_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "src/probe/events/event_reader.h"
#include "tests/base/temporary_folder.h"

namespace recpack::probe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class EventFolderTest : public testing::Test {
 protected:
  void Write(const char* file, const char* text) { std::ofstream(folder_ / file) << text; }

  TemporaryFolder folder_;
};

TEST_F(EventFolderTest, NoticesAreSaidOnce) {
  EXPECT_THAT(ReadNotices(folder_.path()), IsEmpty());
  Write("1-python.notice", "no steps\n\nno waits\n");
  Write("2-python.notice", "no steps\n");
  Write("2-python.events", "no notice\n");
  EXPECT_THAT(ReadNotices(folder_.path()), ElementsAre("no steps", "no waits"));
}

TEST_F(EventFolderTest, WhoseEventsAreNotWholeIsNamed) {
  EXPECT_THAT(ReadLosses(folder_.path()), IsEmpty());
  Write("712-python.lost", "");
  EXPECT_THAT(ReadLosses(folder_.path()),
              ElementsAre(HasSubstr("events of process 712 are incomplete")));
}

TEST_F(EventFolderTest, WhetherThereWereAcceleratorsIsKept) {
  EXPECT_EQ(KeptAccelerators(folder_.path()), std::nullopt);
  for (const bool any : {true, false}) {
    KeepAccelerators(folder_.path(), any);
    EXPECT_EQ(KeptAccelerators(folder_.path()), any);
  }
  for (const char* other : {"", "accelerators", "accelerators x", "processors 0"}) {
    Write("machine", other);
    EXPECT_EQ(KeptAccelerators(folder_.path()), std::nullopt) << other;
  }
  KeepAccelerators("/proc/no such folder", true);
}

TEST_F(EventFolderTest, NoPipeIsWaitedFor) {
  for (const char* name : {"1-python.notice", "machine", "1-python.events"}) {
    ASSERT_EQ(::mkfifo(std::string(folder_ / name).c_str(), 0600), 0);
  }
  EXPECT_THAT(ReadNotices(folder_.path()), IsEmpty());
  EXPECT_EQ(KeptAccelerators(folder_.path()), std::nullopt);
  EventReader reader(folder_.path());
  EXPECT_THAT(reader.PollAll(), IsEmpty());
  EXPECT_THAT(reader.damage(), ElementsAre(HasSubstr("1-python.events: not a regular file")));
}

TEST_F(EventFolderTest, OfAFolderThatIsNotThereNothingIsSaid) {
  EXPECT_THAT(ReadNotices("/no such folder"), IsEmpty());
  EXPECT_THAT(ReadLosses("/no such folder"), IsEmpty());
}

}  // namespace
}  // namespace recpack::probe
