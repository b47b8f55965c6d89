// A parameter server between processes, which are threads here.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "recpack/base/error.h"
#include "src/train/collectives/collective.h"
#include "src/train/strategies/served_variables.h"
#include "tests/train/plain_ops.h"

namespace recpack::train {
namespace {

// Counts the updates of a keeper.
class CountingOps final : public PlainOps {
 public:
  CountingOps(int& updates, bool fails) : updates_(updates), fails_(fails) {}
  void Sgd(const SgdUpdate& update, float* value, const float* gradient, float* velocity,
           size_t count) override {
    if (fails_) throw Error(ErrorKind::kDevice, "the keeper is broken");
    ++updates_;
    PlainOps::Sgd(update, value, gradient, velocity, count);
  }

 private:
  int& updates_;
  const bool fails_;
};

constexpr size_t kVariables = 4;

// A process with one device.
struct Member {
  PlainOps ops;
  Variables variables;
  std::unique_ptr<ServedVariables> served;
  int updates = 0;
  std::string failure;
};

// Gradients of a step: the process's rank + 1 in every element.
void Step(Member& member, size_t rank) {
  for (size_t i = 0; i < kVariables; ++i) member.served->Need(i);
  member.served->BeginStep({.rate = 1, .number = 1});
  for (size_t i = kVariables; i-- > 0;) {
    std::fill_n(member.variables.Gradient(i), 4, static_cast<float>(rank + 1));
    member.served->Ready(i);
  }
  member.served->EndStep();
}

// Runs `run` for each process. `keepers`: number of keepers of each.
template <typename Run>
std::vector<std::unique_ptr<Member>> Together(const std::vector<size_t>& keepers, const Run& run,
                                              bool fails = false) {
  std::vector<std::unique_ptr<Member>> members;
  auto collectives = ThreadCollectives(static_cast<int>(keepers.size()));
  std::vector<std::jthread> threads;
  for (size_t rank = 0; rank < keepers.size(); ++rank) {
    Member& member = *members.emplace_back(std::make_unique<Member>());
    ParameterServerOptions options{
        .optimizer = {.kind = OptimizerKind::kSgd, .rate = 1, .decay = 0},
        .processes = std::move(collectives[rank]),
        .keepers_by_process = keepers};
    options.keepers.assign(keepers[rank], [&member, fails] {
      return std::make_unique<CountingOps>(member.updates, fails);
    });
    for (size_t i = 0; i < kVariables; ++i) member.variables.Add({std::to_string(i), {4}});
    member.variables.Allocate(member.ops, 0, 1);
    member.served =
        std::make_unique<ServedVariables>(std::make_shared<ParameterServer>(std::move(options)), 0);
    threads.emplace_back([&member, &run, rank] {
      try {
        member.served->Start(member.ops, member.variables);
        run(member, rank);
      } catch (const Error& error) {
        member.failure = error.what();
      }
      member.served.reset();
    });
  }
  threads.clear();
  return members;
}

TEST(ServerExchange, AddsUpTheGradientsOfAllProcesses) {
  for (const std::vector<size_t>& keepers :
       std::vector<std::vector<size_t>>{{1, 0, 0}, {1, 1, 1}, {2, 1, 1}, {0, 3, 0}}) {
    const auto members = Together(keepers, [](Member& member, size_t rank) {
      for (int step = 0; step < 3; ++step) Step(member, rank);
      member.served->Settle();
    });
    for (const auto& member : members) {
      EXPECT_EQ(member->failure, "");
      for (size_t i = 0; i < kVariables; ++i) EXPECT_EQ(*member->variables.At(i), -18.0F);
    }
  }
}

TEST(ServerExchange, UpdatesEachVariableOnceInTheProcessThatKeepsIt) {
  const auto updates = [](const std::vector<size_t>& keepers) {
    std::vector<int> counts;
    for (const auto& member : Together(keepers, Step)) counts.push_back(member->updates);
    return counts;
  };
  EXPECT_EQ(updates({1, 0, 0}), (std::vector{4, 0, 0}));
  EXPECT_EQ(updates({1, 1, 1}), (std::vector{2, 1, 1})) << "each to the one with the fewest";
  EXPECT_EQ(updates({1, 3}), (std::vector{1, 3}));
}

TEST(ServerExchange, AKeeperThatFailsEndsAllProcesses) {
  const auto members = Together(
      {1, 0},
      [](Member& member, size_t rank) {
        for (;;) Step(member, rank);
      },
      true);
  EXPECT_EQ(members[0]->failure, "the keeper is broken");
  EXPECT_EQ(members[1]->failure, "rank 0 ended the run: the keeper is broken");
}

TEST(ServerExchange, AProcessThatEndsEarlyEndsTheOthers) {
  const auto members = Together({1, 0}, [](Member& member, size_t rank) {
    for (int step = 0; rank == 0 || step < 2; ++step) Step(member, rank);
  });
  EXPECT_NE(members[0]->failure.find("rank 1 has finished"), std::string::npos)
      << members[0]->failure;
}

}  // namespace
}  // namespace recpack::train
