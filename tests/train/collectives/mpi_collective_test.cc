// Run by mpirun: every process is a rank, and runs the same tests.
#include "recpack/train/mpi_collective.h"

#include "recpack/base/error.h"
#include "tests/train/collectives/collective_contract.h"

namespace recpack {
namespace {

class MpiWorld final : public World {
 public:
  int size() const override { return OutOfBand().size(); }
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

}  // namespace
}  // namespace recpack
