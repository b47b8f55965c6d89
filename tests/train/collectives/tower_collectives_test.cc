#include "src/train/collectives/threads/tower_collectives.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "tests/base/error_of.h"
#include "tests/train/collectives/collective_contract.h"
#include "tests/train/collectives/thread_world.h"

namespace recpack::train {
namespace {

// Processes of `counts` towers each, all of them threads here.
class TowerWorld final : public ThreadedWorld {
 public:
  explicit TowerWorld(std::vector<int> counts)
      : ThreadedWorld(std::accumulate(counts.begin(), counts.end(), 0)),
        counts_(std::move(counts)) {}

  void Run(const CollectiveOptions& options, const Body& body) override {
    std::vector<std::unique_ptr<Collective>> towers;
    for (auto& process : ThreadCollectives(static_cast<int>(counts_.size()), options)) {
      for (auto& tower : TowerCollectives(std::move(process), counts_)) {
        towers.push_back(std::move(tower));
      }
    }
    RunWith([&](int rank) { return std::move(towers[static_cast<size_t>(rank)]); }, body);
  }

 private:
  const std::vector<int> counts_;
};

WorldKind Towers(const std::string& name, const std::vector<int>& counts) {
  return {.name = name,
          .make = [counts] { return std::make_unique<TowerWorld>(counts); },
          .names_ranks =
              std::all_of(counts.begin(), counts.end(), [](int count) { return count == 1; })};
}

// These sums are in rank order: ((x0 + x1) + x2) + x3.
INSTANTIATE_TEST_SUITE_P(Towers, CollectiveContract,
                         testing::Values(Towers("OneEach", {1, 1, 1}), Towers("OneProcess", {3}),
                                         Towers("TheFirstHasSeveral", {3, 1})),
                         WorldName);

// Calls `body` for each of four ranks in two processes, and returns what it throws.
template <typename Body>
std::vector<std::string> FailuresOf(const Body& body) {
  std::vector<std::string> failures(4);
  TowerWorld({2, 2}).Run({}, [&](std::unique_ptr<Collective> collective) {
    const auto rank = static_cast<size_t>(collective->rank());
    failures[rank] = ErrorOf([&] { body(*collective); }).what();
  });
  return failures;
}

TEST(TowerCollectives, SumsAreMadeInEachProcessFirst) {
  TowerWorld({2, 2}).Run({}, [](std::unique_ptr<Collective> collective) {
    const float large = 1 << 24;  // large + 1 rounds to large
    const float own[] = {large, 1, 1, 1};
    std::vector<float> data = {own[collective->rank()]};
    collective->AllReduce(data);
    EXPECT_EQ(data[0], large + 2);
  });
}

TEST(TowerCollectives, AFailureNamesItsProcess) {
  const auto failures = FailuresOf([](Collective& collective) {
    if (collective.rank() == 2) collective.Abort("the disk is full");
    std::vector<float> data(10);
    for (;;) collective.AllReduce(data);
  });
  EXPECT_THAT(failures, testing::Each("rank 1 ended the run: the disk is full"));
}

TEST(TowerCollectives, CallsThatDifferBetweenProcessesAreAnErrorOfAll) {
  const auto failures = FailuresOf([](Collective& collective) {
    std::vector<float> data(10);
    if (collective.rank() >= 2) data.resize(11);
    collective.AllReduce(data);
  });
  EXPECT_THAT(
      failures,
      testing::Each(testing::HasSubstr("rank 0 calls AllReduce of 10 floats while rank 1 calls")));
}

}  // namespace
}  // namespace recpack::train
