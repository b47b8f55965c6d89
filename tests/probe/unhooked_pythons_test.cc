#include "src/probe/evidence/unhooked_pythons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "src/probe/command/child_command.h"
#include "tests/base/temporary_folder.h"
#include "tests/probe/second.h"

namespace recpack::probe {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// A program called python3, started without the hook's environment.
class UnhookedPythonsTest : public testing::Test {
 protected:
  UnhookedPythonsTest() {
    std::filesystem::create_symlink("/bin/sleep", folder_ / "python3");
    std::filesystem::create_directory(folder_ / "python");
    child_.emplace(std::vector<std::string>{folder_ / "python3", "1000"});
    processes_ = {{.process = child_->process(), .name = "python3"}};
  }
  ~UnhookedPythonsTest() override { child_->Kill(SIGKILL); }

  const TemporaryFolder folder_;
  std::optional<ChildCommand> child_;
  std::vector<ProcessSample> processes_;
};

TEST_F(UnhookedPythonsTest, AreNamedOnceTheyHadTimeToLoadTheHook) {
  UnhookedPythons pythons(folder_.path());
  pythons.Look(processes_, 5);
  pythons.Look(processes_, 4 + kSecond);
  EXPECT_THAT(pythons.first(), IsEmpty());
  pythons.Look(processes_, 5 + kSecond);
  EXPECT_THAT(pythons.first(), HasSubstr("(python3) has no hook"));
  EXPECT_THAT(pythons.first(), HasSubstr("without RECPACK_EVENTS"));
}

TEST_F(UnhookedPythonsTest, AShellMayBecomeOne) {
  UnhookedPythons pythons(folder_.path());
  const std::vector<ProcessSample> before = {{.process = child_->process(), .name = "bash"}};
  pythons.Look(before, 0);
  pythons.Look(processes_, 2 * kSecond);
  EXPECT_THAT(pythons.first(), IsEmpty());
  pythons.Look(processes_, 3 * kSecond);
  EXPECT_THAT(pythons.first(), HasSubstr("(python3) has no hook"));
}

TEST_F(UnhookedPythonsTest, AreNotLookedForWhereThereIsNoHook) {
  std::filesystem::remove(folder_ / "python");
  UnhookedPythons pythons(folder_.path());
  pythons.Look(processes_, 0);
  pythons.Look(processes_, 2 * kSecond);
  EXPECT_THAT(pythons.first(), IsEmpty());
}

}  // namespace
}  // namespace recpack::probe
