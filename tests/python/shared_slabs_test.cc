#include "python/calls/shared_slabs.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "tests/base/forked.h"
#include "tests/base/sanitizers.h"

namespace recpack::python {
namespace {

constexpr size_t kBytes = 1 << 20;

TEST(SharedSlabs, AreFoundWhileTheyAreThere) {
  std::shared_ptr<void> slab = ProcessSlabs().Allocate(kBytes);
  const void* const start = slab.get();
  ASSERT_TRUE(ProcessSlabs().Find(start));
  EXPECT_GT(ProcessSlabs().Find(start)->bytes, kBytes) << "the last one says that it was freed";
  slab.reset();
  EXPECT_FALSE(ProcessSlabs().Find(start));
}

TEST(SharedSlabs, AChildLetsGoForItselfAlone) {
  std::shared_ptr<void> slab = ProcessSlabs().Allocate(kBytes);
  const auto* const bytes = static_cast<const uint8_t*>(slab.get());
  const size_t last = ProcessSlabs().Find(bytes)->bytes - 1;
  EXPECT_EQ(InChild([&] {
              slab.reset();
              return !ProcessSlabs().Find(bytes);
            }),
            0);
  EXPECT_EQ(bytes[last], 0) << "others unmap what was freed";
}

// Forks at any moment of a thread that makes slabs and lets go of them.
TEST(SharedSlabs, ForksWhileTheyAreInUse) {
  if (kAddressSanitizer || kThreadSanitizer) {
    GTEST_SKIP() << "a sanitizer's own locks are not safe for forks";
  }
  std::shared_ptr<void> slab = ProcessSlabs().Allocate(kBytes);
  const std::jthread other([](const std::stop_token& stop) {
    while (!stop.stop_requested()) ProcessSlabs().Allocate(kBytes);
  });
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(ForkedAtOnce([&] {
                slab.reset();
                return ProcessSlabs().Allocate(kBytes) != nullptr;
              }),
              0)
        << i;
  }
}

}  // namespace
}  // namespace recpack::python
