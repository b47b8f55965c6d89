#include "src/probe/gpu/accelerators.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/base/temporary_folder.h"

namespace recpack::probe {
namespace {

bool With(const std::string& file) {
  const TemporaryFolder dev;
  const std::filesystem::path path = dev / file;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << "x";
  return AnyAccelerator(dev.path());
}

TEST(Accelerators, AreKnownByTheirFiles) {
  for (const char* file :
       {"nvidia0", "nvidia12", "kfd", "dxg", "accel0", "accel/accel0", "vfio/0", "vfio/17"}) {
    EXPECT_TRUE(With(file)) << file;
  }
}

// udev creates these on machines without accelerators.
TEST(Accelerators, DriversWithoutDevicesAreNone) {
  for (const char* file : {"nvidiactl", "nvidia-uvm", "nvidia-caps/nvidia-cap1", "vfio/vfio",
                           "vfio/devices/x", "null"}) {
    EXPECT_FALSE(With(file)) << file;
  }
  EXPECT_FALSE(AnyAccelerator("/no/such/folder"));
}

}  // namespace
}  // namespace recpack::probe
