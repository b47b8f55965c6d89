// Tests of MpiCollective, run by mpirun: every process is a rank and runs the same tests.
#include "src/train/collectives/mpi/mpi_collective.h"

#include <gmock/gmock.h>

#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "recpack/base/error.h"
#include "src/train/collectives/mpi/mpi_session.h"
#include "tests/base/error_of.h"
#include "tests/train/collectives/collective_contract.h"

namespace {

// Injected behaviour of MPI in the next calls of this process, by way of MPI's profiling interface
// (PMPI_).
struct Faults {
  int refused_rank = -1;  // the next message to it cannot be sent
  // 0: the first request is not done, the second is, the third is not, and the fourth has failed;
  // -1: no injection
  int tests = -1;
  int undone = 0;                       // number of requests that are reported as not done
  std::chrono::milliseconds stopped{};  // sleeps once for that time while testing a request
  int taken_back = 0;
  std::set<MPI_Request> cancelled;
  bool twice = false;  // a request was cancelled
};
Faults faults;

}  // namespace

extern "C" {

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  if (to == faults.refused_rank) {
    faults.refused_rank = -1;
    return MPI_ERR_OTHER;
  }
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  std::this_thread::sleep_for(std::exchange(faults.stopped, {}));
  if (faults.undone > 0) {
    --faults.undone;
    *done = 0;
    return MPI_SUCCESS;
  }
  const int number = faults.tests < 0 ? -1 : faults.tests++;
  if (number == 0 || number == 2) {
    *done = 0;
    return MPI_SUCCESS;
  }
  if (number == 3) return MPI_ERR_OTHER;
  if (number == 1) PMPI_Wait(request, status);  // few bytes, which wait for no receiver
  return PMPI_Test(request, done, status);
}

int MPI_Cancel(MPI_Request* request) {
  ++faults.taken_back;
  faults.twice |= !faults.cancelled.insert(*request).second;
  return PMPI_Cancel(request);
}

int MPI_Request_free(MPI_Request* request) {
  ++faults.taken_back;
  return PMPI_Request_free(request);
}

}  // extern "C"

namespace recpack::train {
namespace {

using testing::HasSubstr;

class MpiWorld final : public World {
 public:
  int size() const override { return OutOfBand().size(); }
  static int Rank() { return OutOfBand().rank(); }
  void Sync() override { OutOfBand().Barrier(); }
  void Run(const CollectiveOptions& options, const Body& body) override {
    try {
      auto collective = MpiCollective(options);
      Sync();
      body(std::move(collective));
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }

 private:
  static Collective& OutOfBand() {
    static const auto collective = MpiCollective();
    return *collective;
  }
};

INSTANTIATE_TEST_SUITE_P(Mpi, CollectiveContract,
                         testing::Values(WorldKind{"Mpi", std::make_unique<MpiWorld>}), WorldName);

// At rank 0. The others get the same error.
void ExpectThatAllHearOf(const Faults& these, const std::string& reason, int taken_back) {
  MpiWorld().Run({}, [&](std::unique_ptr<Collective> collective) {
    if (collective->rank() == 0) faults = these;
    // Others may have had what they need of this call, or of several.
    const Error error = ErrorOf([&] {
      do collective->Barrier();
      while (collective->rank() != 0);
    });
    EXPECT_EQ(error.kind(), ErrorKind::kIo);
    EXPECT_THAT(error.what(), HasSubstr("rank 0 ended the run: " + reason));
    if (collective->rank() != 0) return;
    EXPECT_EQ(faults.taken_back, taken_back);
    EXPECT_FALSE(faults.twice);
    faults = {};
  });
  MpiWorld().Sync();
}

TEST(MpiCollective, WhereMpiRefusesARequestThoseBeforeItAreTakenBack) {
  const int last = MpiWorld().size() - 1;
  const int posted = 2 * last - 1;  // from and to each rank, except the last
  ExpectThatAllHearOf({.refused_rank = last}, "MPI_Isend: ", posted);
}

TEST(MpiCollective, WhereARequestFailsThoseThatAreNotDoneAreTakenBackOnce) {
  const int requests = 2 * (MpiWorld().size() - 1);
  if (requests < 4) GTEST_SKIP() << "of three ranks and more";
  ExpectThatAllHearOf({.tests = 0}, "MPI_Test: ", requests - 1);
}

// The others arrive in the meantime, but rank 0 does not notice before it checks its clock.
TEST(MpiCollective, AProcessThatWasStoppedHasItsTimeAgain) {
  constexpr auto kTimeout = std::chrono::milliseconds(1500);
  CollectiveOptions options;
  if (MpiWorld().Rank() == 0) options.timeout = kTimeout;
  MpiWorld().Run(options, [&](std::unique_ptr<Collective> collective) {
    if (collective->rank() == 0) {
      faults = {.undone = 2 * (collective->size() - 1),
                .stopped = kTimeout + std::chrono::milliseconds(1200)};
    }
    EXPECT_NO_THROW(collective->Barrier());
  });
}

}  // namespace
}  // namespace recpack::train
