#include "src/probe/doctor/ceilings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "recpack/base/error.h"
#include "src/ceiling/pictures.h"
#include "src/probe/doctor/machine.h"
#include "tests/base/temporary_folder.h"

namespace recpack::probe {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

Ceilings MadeCeilings(const std::string& storage = "ext4 on /dev/vda", int64_t at = 1000) {
  return {.measured_at = at,
          .machine = MachineKey(),
          .storage = storage,
          .data = "/data",
          .cores = 4,
          .rates = {{.name = kMemcpy,
                     .unit = "B/s",
                     .one = {.value = 10, .low = 9, .high = 11},
                     .all = {.value = 22, .low = 20, .high = 23},
                     .threads = 4,
                     .how = ""},
                    {.name = kKernelLaunch,
                     .unit = "launches/s",
                     .one = {.unavailable = "no device"},
                     .all = {.unavailable = "no device"}}},
          .decode = {1e-5, 2e-9, 3e-9},
          .scaling = {{.threads = 1}, {.threads = 4, .compute = 1.5, .memory = 3}},
          .store_bytes_per_second = 1e9,
          .resize = ResizeEffect{256, 0.3, 0.4}};
}

TEST(KeptCeilings, AreReadAsTheyWereKept) {
  const TemporaryFolder folder;
  EXPECT_FALSE(KeptCeilings(folder.path())) << "there are none yet";
  const std::string inner = folder / "deep/er";
  KeepCeilings(MadeCeilings(), inner);
  const auto kept = KeptCeilings(inner);
  ASSERT_TRUE(kept);
  EXPECT_EQ(CeilingsJson(*kept), CeilingsJson(MadeCeilings()));
  EXPECT_EQ(kept->Find(kKernelLaunch)->one.unavailable, "no device");
}

TEST(KeptCeilings, OfTheStorageThatIsAskedForElseTheLatest) {
  const TemporaryFolder folder;
  KeepCeilings(MadeCeilings("a", 3000), folder.path());
  KeepCeilings(MadeCeilings("b", 2000), folder.path());
  EXPECT_EQ(KeptCeilings(folder.path())->storage, "a");
  EXPECT_EQ(KeptCeilings(folder.path(), "b")->storage, "b");
  EXPECT_FALSE(KeptCeilings(folder.path(), "c"));
}

TEST(KeptCeilings, OfOtherMachinesAreNone) {
  const TemporaryFolder folder;
  Ceilings other = MadeCeilings();
  other.machine = "another one";
  KeepCeilings(other, folder.path());
  EXPECT_FALSE(KeptCeilings(folder.path()));
}

// Truncated files, other versions, invalid JSON, wrong types.
TEST(KeptCeilings, DamagedFilesAreNone) {
  const TemporaryFolder folder;
  KeepCeilings(MadeCeilings(), folder.path());
  const fs::path path = fs::directory_iterator(folder.path())->path();
  const std::string whole = CeilingsJson(MadeCeilings());
  for (size_t size = 0; size < whole.size(); size += 7) {
    std::ofstream(path, std::ios::trunc) << whole.substr(0, size);
    EXPECT_FALSE(KeptCeilings(folder.path())) << size;
  }
  for (const auto& [from, to] : {std::pair{"\"version\":1", "\"version\":2"},
                                 {"\"cores\":4", "\"cores\":\"four\""},
                                 {"\"scaling\":[", "\"scaling\":7,\"was\":["},
                                 {"\"value\":10.0", "\"value\":null"}}) {
    std::string text = whole;
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), std::string(from).size(), to);
    std::ofstream(path, std::ios::trunc) << text;
    EXPECT_FALSE(KeptCeilings(folder.path())) << to;
  }
}

TEST(KeptCeilings, WhereNoneCanBeKeptItSaysWhere) {
  try {
    KeepCeilings(MadeCeilings(), "/proc/nothing");
    FAIL() << "something was written to /proc";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("/proc/nothing"));
  }
}

TEST(Ceilings, OfSomeThreadsLieBetweenOneAndAll) {
  const Ceilings ceilings = MadeCeilings();
  EXPECT_EQ(ceilings.Rate(kMemcpy, 1), 10);
  EXPECT_EQ(ceilings.Rate(kMemcpy, 2), 14);
  EXPECT_EQ(ceilings.Rate(kMemcpy, 4), 22);
  EXPECT_EQ(ceilings.Rate(kMemcpy, 9), 22);
  EXPECT_EQ(ceilings.Rate(kKernelLaunch, 1), 0);
  EXPECT_EQ(ceilings.Rate("nothing of the kind", 1), 0);
}

TEST(Ceilings, AllIsMeasuredOrSaysWhyNot) {
  const TemporaryFolder folder;
  const auto pictures = ceiling::NoisePictures(2, {640, 560}, 80);
  const Ceilings ceilings = MeasureCeilings({.folder = folder.path(),
                                             .pictures = pictures,
                                             .cores = 1,
                                             .time = std::chrono::milliseconds(100)});
  for (const char* name :
       {kReadCold, kReadRandom, kReadCached, kMemcpy, kMemset, kCrc, kInflate, kJpeg, kDataJpeg}) {
    const Ceiling* ceiling = ceilings.Find(name);
    ASSERT_NE(ceiling, nullptr) << name;
    for (const ceiling::Spread& spread : {ceiling->one, ceiling->all}) {
      EXPECT_NE(spread.measured(), spread.value == 0) << name << spread.unavailable;
      EXPECT_LE(spread.low, spread.value) << name;
      EXPECT_GE(spread.high, spread.value) << name;
    }
  }
  for (const char* name : {kMemcpy, kMemset, kCrc, kInflate, kJpeg, kDataJpeg, kReadCached}) {
    EXPECT_TRUE(ceilings.Find(name)->one.measured()) << name;
  }
  EXPECT_GT(ceilings.decode.Seconds(30'000, 320 * 280), 0);
  ASSERT_TRUE(ceilings.resize);
  EXPECT_LT(ceilings.resize->bytes, 1);
  EXPECT_GT(ceilings.measured_at, 1'600'000'000);
  EXPECT_TRUE(fs::is_empty(folder.path())) << "nothing is left behind";
  EXPECT_THAT(CeilingsText(ceilings), HasSubstr("pack --resize 256"));
}

TEST(Ceilings, PicturesThatCannotBeDecodedAreUnavailable) {
  const TemporaryFolder folder;
  ByteBuffer broken = ceiling::NoisePictures(1, {64, 64}, 80)[0];
  broken.resize(broken.size() / 2);
  const Ceilings ceilings = MeasureCeilings({.folder = folder.path(),
                                             .pictures = {broken},
                                             .cores = 1,
                                             .time = std::chrono::milliseconds(50)});
  EXPECT_FALSE(ceilings.Find(kDataJpeg)->one.measured());
  EXPECT_FALSE(ceilings.resize);
  EXPECT_TRUE(ceilings.Find(kJpeg)->one.measured());
}

TEST(Ceilings, AFolderThatCannotBeWrittenLeavesTheStorageUnavailable) {
  const Ceilings ceilings =
      MeasureCeilings({.folder = "/nowhere", .cores = 1, .time = std::chrono::milliseconds(50)});
  EXPECT_THAT(ceilings.Find(kReadCold)->one.unavailable, HasSubstr("/nowhere"));
  EXPECT_TRUE(ceilings.Find(kMemcpy)->one.measured());
}

}  // namespace
}  // namespace recpack::probe
