#include "src/loader/run/ledger.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "recpack/base/error.h"
#include "tests/base/error_of.h"
#include "tests/loader/small_split.h"

namespace recpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

std::vector<std::string> LinesOf(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

class LedgerTest : public testing::Test {
 protected:
  LedgerTest() {
    for (const uint64_t id : {4, 25, 41, 59}) split_.Damage(id);
  }

  LoaderOptions Options(const std::string& ledger) const {
    return {.fields = SmallFields(),
            .batch_size = 5,
            .order = ParseOrder("window:4:3:2"),
            .seed = 17,
            .last_batch = LastBatch::kKeep,
            .threads = 3,
            .on_bad_record = OnBadRecord::kSubstitute,
            .max_bad_share = 0.1,
            .ledger = File(ledger)};
  }

  std::string File(const std::string& name) const { return split_.folder() + "/" + name; }

  SmallSplit split_{60};
  Dataset dataset_ = Dataset::Open(split_.folder());
};

TEST_F(LedgerTest, HasALineForEachInTheOrderOfPositions) {
  Loader loader(dataset_, Options("ledger"));
  Take(loader, 24);  // two epochs
  const auto lines = LinesOf(File("ledger"));
  ASSERT_THAT(lines, SizeIs(8));
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i] + "\n", LedgerLine(loader.substitutions()[i]));
    EXPECT_THAT(lines[i], StartsWith(i < 4 ? R"({"epoch": 0, )" : R"({"epoch": 1, )"));
    if (i % 4 != 0) {
      EXPECT_LT(loader.substitutions()[i - 1].position, loader.substitutions()[i].position);
    }
  }
}

TEST_F(LedgerTest, ALineIsJson) {
  Substitution each;
  each.epoch = 1;
  each.position = 2;
  each.view = 3;
  each.bad = 4;
  each.taken = 5;
  each.place = {.path = "a\"b\\c\n", .offset = 6, .ordinal = 7};
  each.reason = "none";
  EXPECT_EQ(LedgerLine(each),
            R"({"epoch": 1, "position": 2, "record": 4, "taken": 5, "view": 3, )"
            R"("shard": "a\"b\\c\u000a", "offset": 6, "ordinal": 7, "reason": "none"})"
            "\n");
}

TEST_F(LedgerTest, ARunThatIsKilledAndResumedAnywhereWritesTheSame) {
  Loader straight(dataset_, Options("straight"));
  const auto taken = Take(straight, 24);
  const auto expected = LinesOf(File("straight"));
  for (size_t saved = 0; saved < 20; saved += 3) {
    const std::string name = "killed" + std::to_string(saved);
    Loader(dataset_, Options(name));
    {
      Loader killed(dataset_, Options(name));
      Take(killed, saved + 5);  // beyond the token
    }
    std::ofstream(File(name), std::ios::app) << R"({"epoch": 1, "posi)";  // an incomplete line
    LoaderOptions options = Options(name);
    options.resume = taken[saved].token;
    Loader resumed(dataset_, options);
    Take(resumed, 23 - saved);
    EXPECT_EQ(LinesOf(File(name)), expected) << saved;
  }
}

TEST_F(LedgerTest, OtherRanksAddNothingElse) {
  Loader straight(dataset_, Options("straight"));
  Take(straight, 12);
  const auto lines = LinesOf(File("straight"));
  std::string token;
  std::set<std::string> found;
  const auto run = [&](uint32_t world, size_t steps) {
    for (uint32_t rank = 0; rank < world; ++rank) {
      LoaderOptions options = Options("rank" + std::to_string(rank));
      options.max_bad_share = 1;
      options.batch_size = 2;
      options.world_size = world;
      options.rank = rank;
      options.resume = token;
      Loader loader(dataset_, options);
      const auto taken = Take(loader, steps);
      for (const auto& line : LinesOf(options.ledger)) found.insert(line);
      if (rank == world - 1 && token.empty()) token = taken[2].token;
    }
  };
  run(4, 5);  // 40 samples; the token is the third step's
  run(3, 6);  // the other 36
  EXPECT_EQ(found, std::set(lines.begin(), lines.end()));
}

TEST_F(LedgerTest, TheBudgetIsChargedInTheOrderOfPositions) {
  Loader all(dataset_, Options("all"));
  Take(all, 12);
  LoaderOptions options = Options("ledger");
  options.batch_size = 60;
  options.max_bad_share = 2.5 / 60;
  Loader loader(dataset_, options);
  const Error error = ErrorOf([&] { loader.Next(); });
  EXPECT_THAT(error.what(), HasSubstr("3 bad records in epoch 0"));
  EXPECT_EQ(error.place().offset, all.substitutions()[2].place.offset);
  EXPECT_THAT(LinesOf(File("ledger")), SizeIs(3));  // includes the one that ended the run
}

TEST_F(LedgerTest, RefusesAnotherRunsAndWhatIsNone) {
  Loader loader(dataset_, Options("ledger"));
  Take(loader, 12);
  LoaderOptions other = Options("ledger");
  bool refused = false;
  for (other.seed = 0; other.seed < 10 && !refused; ++other.seed) {
    Loader again(dataset_, other);
    try {
      Take(again, 12);
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("belongs to another run"));
      refused = true;
    }
  }
  EXPECT_TRUE(refused);

  std::ofstream(File("text")) << LinesOf(File("straight")).size() << "\nhello\n";
  const Error text = ErrorOf([&] { Loader(dataset_, Options("text")); });
  EXPECT_EQ(text.kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(text.place().offset, 0u);
  EXPECT_EQ(ErrorOf([&] { Loader(dataset_, Options("no/folder")); }).kind(), ErrorKind::kNotFound);
}

TEST_F(LedgerTest, MayBeAPipeThatSomebodyReads) {
  ASSERT_EQ(::mkfifo(File("pipe").c_str(), 0600), 0);
  const Error error = ErrorOf([&] { Loader(dataset_, Options("pipe")); });
  EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
  EXPECT_THAT(error.reason(), HasSubstr("nobody reads this pipe"));
  std::string read;
  const int reader = ::open(File("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  {
    Loader loader(dataset_, Options("pipe"));
    Take(loader, 12);
    char bytes[4096];
    const ssize_t got = ::read(reader, bytes, sizeof bytes);
    read.assign(bytes, static_cast<size_t>(std::max<ssize_t>(got, 0)));
    EXPECT_EQ(read.substr(0, read.find('\n') + 1), LedgerLine(loader.substitutions()[0]));
  }
  ::close(reader);
}

TEST_F(LedgerTest, AFullDiskIsAnError) {
  LoaderOptions options = Options("ledger");
  options.ledger = "/dev/full";
  Loader loader(dataset_, options);
  EXPECT_EQ(ErrorOf([&] { Take(loader, 12); }).kind(), ErrorKind::kIo);
}

}  // namespace
}  // namespace recpack
