#include "src/train/make_ops.h"

#include <gmock/gmock.h>

#include "recpack/base/error.h"

namespace recpack {
namespace {

TrainerOptions On(const std::string& devices) {
  TrainerOptions options;
  options.devices = ParseDevices(devices);
  return options;
}

TEST(MakeOps, CpuDevicesAreFedFromTheHost) {
  EXPECT_EQ(FeedingRuntime(On("cpu:0,cpu:1")), nullptr);
}

TEST(MakeOps, AGpuIsTakenAlone) {
  for (const char* devices : {"cuda:0,cpu:0", "cpu:0,cuda:0", "cuda:0/0,cuda:0/1"}) {
    try {
      FeedingRuntime(On(devices));
      FAIL() << devices;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
      EXPECT_THAT(error.what(), testing::HasSubstr("cuda:0"));
    }
  }
}

TEST(MakeOps, AGpuThatIsNotThereIsRefused) {
  try {
    FeedingRuntime(On("cuda:1000"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("cuda:1000"));
    EXPECT_THAT(error.what(), testing::HasSubstr("choose cpu:0"));
  }
}

}  // namespace
}  // namespace recpack
