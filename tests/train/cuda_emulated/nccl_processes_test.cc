// nccl_processes_test N: the suite of all collectives, with N processes that each have a GPU of an
// emulated machine. nccl_processes_test N killed: the last one dies in a sum; the others report it.
#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "recpack/base/error.h"
#include "src/train/collectives/tcp/tcp_collective.h"
#include "tests/base/error_of.h"
#include "tests/train/collectives/collective_contract.h"
#include "tests/train/collectives/free_port.h"
#include "tests/train/cuda_emulated/emulator.h"
#include "tests/train/cuda_emulated/nccl_faults.h"
#include "tests/train/cuda_emulated/nccl_world.h"

namespace recpack::train {
namespace {

int rank_of_this = 0, processes = 1, first_port = 0;

std::unique_ptr<Collective> Meet(int port, const CollectiveOptions& options = {}) {
  return TcpCollective({.rank = rank_of_this, .size = processes, .port = port}, options);
}

class ProcessesWorld final : public World {
 public:
  int size() const override { return processes; }
  void Sync() override { OutOfBand().Barrier(); }
  void Run(const CollectiveOptions& options, const Body& body) override {
    emulated::SetUp({.devices = processes});
    const uint64_t port = GatherValues(OutOfBand(), static_cast<uint64_t>(FreePort()))[0];
    try {
      auto collective = OnGpuOfRank(Meet(static_cast<int>(port), options), options);
      Sync();
      body(std::move(collective));
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
    EXPECT_EQ(emulated::LiveCommunicators(), 0u);
  }

 private:
  static Collective& OutOfBand() {
    static const auto collective = Meet(first_port);
    return *collective;
  }
};

INSTANTIATE_TEST_SUITE_P(EmulatedNcclProcesses, CollectiveContract,
                         testing::Values(WorldKind{
                             .name = "Processes",
                             .make = [] { return std::make_unique<ProcessesWorld>(); },
                             .sees_calls = false,
                             .timeout = std::chrono::seconds(5)}),
                         WorldName);

// The last process is killed while the others are in the sum, so its result is not checked.
int Killed() {
  emulated::SetUp({.devices = processes});
  const auto collective = OnGpuOfRank(Meet(first_port), {});
  std::vector<float> data(1000);
  // A rank that is still in the first sum may see it there.
  const std::string failure = ErrorOf([&] {
                                collective->AllReduce(data);
                                if (rank_of_this == processes - 1) std::raise(SIGKILL);
                                collective->AllReduce(data);
                              }).what();
  std::printf("rank %d: %s\n", rank_of_this, failure.c_str());
  return failure.find("rank " + std::to_string(processes - 1) + " was lost") != std::string::npos
             ? 0
             : 1;
}

// The first process's children are the other ranks.
std::vector<pid_t> StartOthers() {
  std::vector<pid_t> children;
  for (int rank = 1; rank < processes; ++rank) {
    const pid_t child = fork();
    if (child < 0) std::abort();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      rank_of_this = rank;
      return {};
    }
    children.push_back(child);
  }
  return children;
}

// Returns true if all of them ended as expected.
bool AllEndedWell(const std::vector<pid_t>& children, bool last_is_killed) {
  bool well = true;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    const bool ended = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    well = well && (last_is_killed && child == children.back() ? killed : ended);
  }
  return well;
}

}  // namespace
}  // namespace recpack::train

int main(int argc, char** argv) {
  using namespace recpack::train;  // NOLINT: the functions above
  testing::InitGoogleTest(&argc, argv);
  processes = argc > 1 ? std::atoi(argv[1]) : 1;
  first_port = FreePort();
  const bool killed = argc > 2;
  const auto children = StartOthers();
  if (rank_of_this > 0) {
    delete testing::UnitTest::GetInstance()->listeners().Release(
        testing::UnitTest::GetInstance()->listeners().default_result_printer());
  }
  const int failed = killed ? Killed() : RUN_ALL_TESTS();
  return failed == 0 && AllEndedWell(children, killed) ? 0 : 1;
}
