#include "src/record/random/guarded_copy.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <thread>
#include <vector>

#include "recpack/base/file.h"
#include "tests/base/temporary_folder.h"

namespace recpack {
namespace {

// Mapping of four pages of 'x' whose file is then truncated to one and a half.
class CutMapping {
 public:
  CutMapping() : page_(static_cast<size_t>(::sysconf(_SC_PAGESIZE))) {
    WriteFileAtomically(PosixFiles(), folder_ / "f", ByteBuffer(4 * page_, 'x'), false);
    mapped_ = std::make_unique<MappedFile>(folder_ / "f");
    std::filesystem::resize_file(folder_ / "f", page_ + page_ / 2);
  }
  const uint8_t* data() const { return mapped_->bytes().data(); }
  size_t page() const { return page_; }

 private:
  TemporaryFolder folder_;
  size_t page_;
  std::unique_ptr<MappedFile> mapped_;
};

TEST(GuardedCopyTest, CopiesWhatIsThere) {
  InstallCopyGuard();
  const CutMapping mapping;
  ByteBuffer to(mapping.page());
  EXPECT_TRUE(GuardedCopy(to.data(), mapping.data(), to.size()));
  EXPECT_EQ(to, ByteBuffer(mapping.page(), 'x'));
}

TEST(GuardedCopyTest, SaysThatPagesAreMissingAgainAndAgainInAllThreads) {
  InstallCopyGuard();
  InstallCopyGuard();
  const CutMapping mapping;
  std::vector<int> failures(4);
  {
    std::vector<std::jthread> threads;
    for (int& failed : failures) {
      threads.emplace_back([&] {
        ByteBuffer to(mapping.page());
        for (int i = 0; i < 100; ++i) {
          failed += !GuardedCopy(to.data(), mapping.data() + 3 * mapping.page() - 10, 20);
        }
        failed += GuardedCopy(to.data(), mapping.data(), to.size()) ? 0 : 1000;
      });
    }
  }
  EXPECT_EQ(failures, (std::vector<int>{100, 100, 100, 100}));
}

TEST(GuardedCopyDeathTest, OtherBusErrorsStillEndTheProcess) {
  const CutMapping mapping;
  EXPECT_EXIT(
      {
        ::signal(SIGBUS, SIG_DFL);  // a sanitizer's handler would print and exit instead
        InstallCopyGuard();
        const volatile uint8_t* missing = mapping.data() + 3 * mapping.page();
        ::_exit(*missing);
      },
      testing::KilledBySignal(SIGBUS), "");
}

TEST(GuardedCopyDeathTest, AHandlerThatWasThereBeforeIsStillCalled) {
  EXPECT_EXIT(
      {
        ::signal(SIGBUS, [](int) { ::_exit(7); });
        InstallCopyGuard();
        ::raise(SIGBUS);
        ::_exit(0);
      },
      testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace recpack
