#include "recpack/device/slabs.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "recpack/base/error.h"
#include "tests/device/feeding.h"

namespace recpack {
namespace {

namespace fs = std::filesystem;

TEST(PinnedSlabs, ArePinnedWhileTheyLive) {
  FakeRuntime fake(1, FakeRuntime::Mode::kLazy);
  std::shared_ptr<void> slab;
  {
    PinnedSlabs slabs(fake, {0});
    slab = slabs.Allocate(5 << 20);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(slab.get()) % 4096, 0U);
    EXPECT_TRUE(slabs.Allocate(0));
  }
  EXPECT_EQ(fake.leaks(), "0 streams, 0 events, 0 allocations, 1 pins");
  static_cast<char*>(slab.get())[(5 << 20) - 1] = 1;
  slab.reset();
  EXPECT_EQ(fake.leaks(), "");
}

// The loader allocates more slabs if batches are held; each is freed on its own.
TEST(PinnedSlabs, OfHeldBatchesAreUnpinnedWithThem) {
  const SmallSplit split(103);
  FakeRuntime fake(1, FakeRuntime::Mode::kLazy);
  std::vector<Batch> held;
  {
    PinnedSlabs slabs(fake, {0});
    LoaderOptions options = SmallOptions();
    options.slabs = &slabs;
    Loader loader(Dataset::Open(split.folder()), options);
    while (held.size() < 6) held.push_back(*loader.Next());
    EXPECT_EQ(fake.leaks(), "0 streams, 0 events, 0 allocations, 7 pins");
  }
  EXPECT_EQ(fake.leaks(), "0 streams, 0 events, 0 allocations, 6 pins");
  held.pop_back();
  EXPECT_EQ(fake.leaks(), "0 streams, 0 events, 0 allocations, 5 pins");
  held.clear();
  EXPECT_EQ(fake.leaks(), "");
}

TEST(PinnedSlabs, SayWhatToDoWhereNothingCanBePinned) {
  FakeRuntime fake(1, FakeRuntime::Mode::kLazy);
  fake.FailCall("cudaHostRegister", 0);
  try {
    PinnedSlabs(fake, {0}).Allocate(100);
    FAIL() << "it was pinned";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kDevice);
    EXPECT_NE(std::string(error.what()).find("ulimit -l"), std::string::npos);
  }
}

TEST(Numa, TheDevicesNodeIsTheKernels) {
  const fs::path root = fs::temp_directory_path() / ("recpack-numa-" + std::to_string(::getpid()));
  const auto put = [&](const std::string& bus, const std::string& node) {
    const fs::path folder = root / "bus/pci/devices" / bus;
    fs::create_directories(folder);
    std::ofstream(folder / "numa_node") << node << "\n";
  };
  put("0000:3b:00.0", "1");
  put("0000:3c:00.0", "-1");
  EXPECT_EQ(NumaNode("0000:3B:00.0", root), 1) << "CUDA writes it in capitals";
  EXPECT_EQ(NumaNode("0000:3C:00.0", root), -1) << "no nodes";
  EXPECT_EQ(NumaNode("0000:ff:00.0", root), -1);
  EXPECT_EQ(NumaNode("", root), -1);
  fs::remove_all(root);
}

TEST(Numa, APreferenceIsAWish) {
  void* const memory =
      ::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_FALSE(PreferNode(memory, 8192, -1));
  EXPECT_FALSE(PreferNode(memory, 8192, 1 << 20));
  PreferNode(memory, 8192, 0);  // containers may refuse it
  static_cast<char*>(memory)[5000] = 1;
  ::munmap(memory, 8192);
}

}  // namespace
}  // namespace recpack
