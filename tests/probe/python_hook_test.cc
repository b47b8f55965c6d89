#include "src/probe/hook/python_hook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "tests/base/temporary_folder.h"
#include "tests/golden.h"

namespace recpack::probe {
namespace {

namespace fs = std::filesystem;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

std::string Text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(PythonHook, TheFilesAreThoseOfTheSourceTree) {
  const TemporaryFolder folder;
  PreparePythonHook(folder.path(), "");
  const fs::path source = fs::path(GoldenPath("../../src/probe/hook/python"));
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(source)) {
    if (entry.path().extension() != ".py") continue;
    const fs::path written = folder / "python" / fs::relative(entry.path(), source);
    EXPECT_EQ(Text(written), Text(entry.path())) << written;
    ++files;
  }
  EXPECT_GT(files, 5u);
}

TEST(PythonHook, TheEnvironmentNamesFolderAndHookBeforeWhatWasThere) {
  const TemporaryFolder folder;
  EXPECT_THAT(
      PreparePythonHook(folder.path(), ""),
      ElementsAre(Pair("RECPACK_EVENTS", folder.path()), Pair("PYTHONPATH", folder / "python")));
  EXPECT_THAT(PreparePythonHook(folder.path(), "/a:/b"),
              ElementsAre(Pair("RECPACK_EVENTS", folder.path()),
                          Pair("PYTHONPATH", folder / "python:/a:/b")));
}

TEST(PythonHook, AFolderIsNamedSoThatAProgramMayChangeItsOwn) {
  const TemporaryFolder folder;
  const std::string relative = fs::relative(folder.path()).string();
  EXPECT_EQ(PreparePythonHook(relative, "")[0].second, folder.path());
}

TEST(PythonHook, AFolderThatPythonPathCannotNameIsRefused) {
  const TemporaryFolder folder;
  try {
    PreparePythonHook(folder / "a:b", "");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("colon"));
  }
}

TEST(PythonHook, AFolderThatCannotBeWrittenIsNamed) {
  const TemporaryFolder folder;
  std::ofstream(folder / "file");
  EXPECT_THROW(PreparePythonHook(folder / "file", ""), Error);
}

class WhyNot : public testing::Test {
 protected:
  std::string Reason(const std::vector<std::string>& command) const {
    return WhyPythonIsNotHooked(command, {{"RECPACK_EVENTS=/r", "PYTHONPATH=/r/python:/x"}}, "/r");
  }
  std::string In(const std::vector<std::string>& environment) const {
    return WhyPythonIsNotHooked({{"python3", "a.py"}}, environment, "/r");
  }
};

TEST_F(WhyNot, NothingIsSaidOfWhatIsHookedOrNoPython) {
  EXPECT_THAT(
      Reason({"/usr/bin/python3.11", "-u", "-X", "dev", "-Werror", "-W", "-S", "a.py", "-S"}),
      IsEmpty());
  EXPECT_THAT(Reason({"python", "-m", "torch.distributed.run", "-I"}), IsEmpty());
  EXPECT_THAT(Reason({"python", "-c", "x = 1", "-E"}), IsEmpty());
  EXPECT_THAT(Reason({"python", "-cSI"}), IsEmpty());
  EXPECT_THAT(WhyPythonIsNotHooked({{"/bin/sh", "-S"}}, {}, "/r"), IsEmpty());
  EXPECT_THAT(WhyPythonIsNotHooked({}, {}, "/r"), IsEmpty());
}

TEST_F(WhyNot, OptionsThatKeepItOutAreNamed) {
  EXPECT_THAT(Reason({"python", "-S", "a.py"}), HasSubstr("without -S"));
  EXPECT_THAT(Reason({"python", "-uI", "a.py"}), HasSubstr("without -I"));
  EXPECT_THAT(Reason({"python", "--check-hash-based-pycs", "never", "-E", "a.py"}),
              HasSubstr("without -E"));
}

TEST_F(WhyNot, AnEnvironmentThatWasNotPassedOnIsNamed) {
  EXPECT_THAT(In({}), HasSubstr("without RECPACK_EVENTS"));
  EXPECT_THAT(In({"RECPACK_EVENTS=/r"}), HasSubstr("PYTHONPATH"));
  EXPECT_THAT(In({"RECPACK_EVENTS=/r", "PYTHONPATH=/a:/r/python2"}), HasSubstr("PYTHONPATH"));
  EXPECT_THAT(In({"RECPACK_EVENTS=/r", "PYTHONPATH=/a:/r/python"}), IsEmpty());
  EXPECT_THAT(In({"RECPACK_EVENTS=/r", "PYTHONPATH=/r/python", "RECPACK_PYTHON_HOOK=0"}),
              HasSubstr("switches the hook off"));
}

TEST_F(WhyNot, OfAProcessThatIsNoPythonOrGoneNothingIsSaid) {
  EXPECT_THAT(WhyPythonIsNotHooked(::getpid(), "/r"), IsEmpty());
  EXPECT_THAT(WhyPythonIsNotHooked(0x7ffffff0, "/r"), IsEmpty());
}

}  // namespace
}  // namespace recpack::probe
