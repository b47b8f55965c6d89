// Tests of NCCL's collectives on an emulated machine: the common contract, and failures.
#include <gmock/gmock.h>

#include "recpack/base/error.h"
#include "src/train/collectives/tcp/tcp_collective.h"
#include "tests/base/error_of.h"
#include "tests/train/collectives/collective_contract.h"
#include "tests/train/collectives/free_port.h"
#include "tests/train/collectives/thread_world.h"
#include "tests/train/cuda_emulated/emulator.h"
#include "tests/train/cuda_emulated/nccl_faults.h"
#include "tests/train/cuda_emulated/nccl_world.h"

namespace recpack::train {
namespace {

using testing::HasSubstr;

// Timeout of calls that are expected to run into it; ranks wait for each other before.
constexpr std::chrono::milliseconds kTimeout{5000};

// Ranks are threads, and connect as threads or over TCP.
class EmulatedWorld final : public ThreadedWorld {
 public:
  EmulatedWorld(int size, bool over_tcp) : ThreadedWorld(size), over_tcp_(over_tcp) {}
  ~EmulatedWorld() override { EXPECT_EQ(emulated::LiveCommunicators(), 0u); }
  void Run(const CollectiveOptions& options, const Body& body) override {
    emulated::SetUp({.devices = size(), .seed = ++seed_});
    auto threads = ThreadCollectives(size(), options);
    const int port = FreePort();
    RunWith(
        [&](int rank) {
          return OnGpuOfRank(
              over_tcp_ ? TcpCollective({.rank = rank, .size = size(), .port = port}, options)
                        : std::move(threads[static_cast<size_t>(rank)]),
              options);
        },
        body);
  }

 private:
  const bool over_tcp_;
  uint64_t seed_ = 0;
};

WorldKind Gpus(int size, bool over_tcp = false) {
  return {.name = (over_tcp ? "GpusOverTcp" : "Gpus") + std::to_string(size),
          .make = [=] { return std::make_unique<EmulatedWorld>(size, over_tcp); },
          .sees_calls = false,
          .timeout = kTimeout};
}

INSTANTIATE_TEST_SUITE_P(EmulatedNccl, CollectiveContract,
                         testing::Values(Gpus(1), Gpus(2), Gpus(3), Gpus(5), Gpus(3, true)),
                         WorldName);

class EmulatedNccl : public testing::Test {
 protected:
  // The errors of the ranks' sums of the same array, in rank order.
  static std::vector<std::string> Failures(int ranks, const CollectiveOptions& options = {}) {
    std::vector<std::string> failures(static_cast<size_t>(ranks));
    EmulatedWorld(ranks, false).Run(options, [&](std::unique_ptr<Collective> collective) {
      std::vector<float> data(100);
      failures[static_cast<size_t>(collective->rank())] = ErrorOf([&] {
                                                            for (;;) collective->AllReduce(data);
                                                          }).what();
    });
    return failures;
  }
};

TEST_F(EmulatedNccl, TellsAllOfAnErrorThatCameLater) {
  emulated::FailNccl(emulated::NcclFault::kAsyncError, 1, 3);
  const auto failures = Failures(3);
  const std::string reason =
      "AllReduce of 100 floats on device 1: NCCL: remote process exited or there was a network "
      "error: the network of the emulated machine failed";
  EXPECT_THAT(failures[1], HasSubstr(reason));
  for (const size_t other : {0, 2}) {
    EXPECT_EQ(failures[other], "rank 1 ended the run: " + reason);
  }
}

TEST_F(EmulatedNccl, EndsACallThatOneRankDoesNotComeTo) {
  emulated::FailNccl(emulated::NcclFault::kHang, 0, 2);
  for (const std::string& failure : Failures(2, {.timeout = kTimeout})) {
    EXPECT_THAT(failure, HasSubstr("AllReduce of 100 floats on device"));
    EXPECT_THAT(failure, HasSubstr("not done within 5000 ms"));
  }
}

TEST_F(EmulatedNccl, TellsAllOfACallThatCudaRefuses) {
  EmulatedWorld world(2, false);
  std::vector<std::string> failures(2);
  world.Run({}, [&](std::unique_ptr<Collective> collective) {
    if (collective->rank() == 0) {
      emulated::FailCall("ncclAllReduce", cudaErrorLaunchFailure);
    }
    world.Sync();
    std::vector<float> data(100);
    failures[static_cast<size_t>(collective->rank())] = ErrorOf([&] {
                                                          for (;;) collective->AllReduce(data);
                                                        }).what();
  });
  EXPECT_THAT(failures, testing::Each(HasSubstr("AllReduce of 100 floats")));
}

TEST_F(EmulatedNccl, RefusesTwoRanksOfOneGpu) {
  emulated::SetUp({.devices = 2});
  auto hosts = ThreadCollectives(2);
  RunThreads(2, [&](int rank) {
    const Error error =
        ErrorOf([&] { NcclCollective(std::move(hosts[static_cast<size_t>(rank)]), 1); });
    EXPECT_THAT(error.what(), HasSubstr("ranks 0 and 1 use one GPU (0000:02:00.0)"));
  });
  EXPECT_EQ(emulated::LiveCommunicators(), 0u);
}

TEST_F(EmulatedNccl, NamesTheGpusOfAMachine) {
  emulated::SetUp({.devices = 2});
  EXPECT_NE(NcclPlace(0), NcclPlace(1));
  EXPECT_EQ(NcclPlace(1), NcclPlace(1));
  EXPECT_EQ(ErrorOf([] { NcclPlace(2); }).kind(), ErrorKind::kDevice);
}

}  // namespace
}  // namespace recpack::train
