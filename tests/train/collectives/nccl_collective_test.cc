// Tests of NcclCollective on a GPU. One rank only: NCCL does not accept two on one GPU.
#include "src/train/collectives/nccl/nccl_collective.h"

#include <gmock/gmock.h>

#include "recpack/base/error.h"
#include "tests/base/error_of.h"
#include "tests/train/collectives/collective_contract.h"
#include "tests/train/collectives/through_device.h"

namespace recpack::train {
namespace {

// Skipped without a GPU.
class NcclWorld final : public World {
 public:
  int size() const override { return 1; }
  void Sync() override {}
  void Run(const CollectiveOptions& options, const Body& body) override {
    auto nccl = NcclCollective(std::move(ThreadCollectives(1, options)[0]), 0, options);
    EXPECT_EQ(nccl->device(), 0);
    body(std::make_unique<ThroughDevice>(std::move(nccl)));
  }
};

std::unique_ptr<World> OneGpu() { return std::make_unique<NcclWorld>(); }

INSTANTIATE_TEST_SUITE_P(Nccl, CollectiveContract,
                         testing::Values(WorldKind{"Nccl1", OneGpu, NcclUnavailable()}), WorldName);

TEST(NcclCollective, SaysWhatIsMissing) {
  const std::string missing = NcclUnavailable();
  if (missing.empty()) GTEST_SKIP() << "there is a GPU";
  const Error error = ErrorOf([] { NcclCollective(std::move(ThreadCollectives(1)[0]), 0); });
  EXPECT_THAT(error.kind(), testing::AnyOf(ErrorKind::kUnsupported, ErrorKind::kDevice));
  EXPECT_THAT(error.what(), testing::AnyOf(testing::HasSubstr("CUDA"), testing::HasSubstr("NCCL")));
}

}  // namespace
}  // namespace recpack::train
