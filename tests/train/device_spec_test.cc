#include "src/train/ops/device_spec.h"

#include <gtest/gtest.h>

#include "recpack/base/error.h"

namespace recpack::train {
namespace {

TEST(Devices, AreReadFromTheirNames) {
  const auto devices = ParseDevices("cpu:0,cpu:1,cuda:3,cuda:0/1,sim:12ms,sim:0.5s,sim:12ms");
  ASSERT_EQ(devices.size(), 7u);
  EXPECT_EQ(DeviceName(devices[1]), "cpu:1");
  EXPECT_EQ(DeviceName(devices[2]), "cuda:3");
  EXPECT_EQ(DeviceName(devices[3]), "cuda:0/1");
  EXPECT_EQ(devices[2], (DeviceSpec{.kind = DeviceKind::kCuda, .number = 3}));
  EXPECT_EQ(DeviceName(devices[3]), "cuda:0/1");
  EXPECT_EQ(devices[4].step_time, std::chrono::milliseconds(12));
  EXPECT_EQ(devices[5].step_time, std::chrono::milliseconds(500));
  EXPECT_EQ(DeviceName(ParseDevices("cuda:local", 2).at(0)), "cuda:2");
  EXPECT_EQ(DeviceName(ParseDevices("cuda:local/1").at(0)), "cuda:0/1");
}

TEST(Devices, ThatAreNoneAreRefused) {
  for (const char* text :
       {"", "cpu", "cpu:", "cpu:-1", "cpu:0,", "cpu:0/1", "gpu:0", "cuda:0/", "cuda:x", "cpu:local",
        "cuda:0,cuda:local", "sim:12", "sim:ms", "sim:-1ms", "cpu:0 ,cpu:1", "cpu:0,cpu:0",
        "cuda:0/1,cuda:0/1", "sim:1e99s"}) {
    EXPECT_THROW(ParseDevices(text), Error) << text;
  }
}

}  // namespace
}  // namespace recpack::train
