#include <gmock/gmock.h>

#include "recpack/base/error.h"
#include "tests/base/error_of.h"
#include "tests/train/collectives/collective_contract.h"
#include "tests/train/collectives/thread_world.h"

namespace recpack::train {
namespace {

class ThreadWorld final : public ThreadedWorld {
 public:
  using ThreadedWorld::ThreadedWorld;
  void Run(const CollectiveOptions& options, const Body& body) override {
    auto collectives = ThreadCollectives(size(), options);
    RunWith([&](int rank) { return std::move(collectives[static_cast<size_t>(rank)]); }, body);
  }
};

WorldKind Threads(int size) {
  return {"Threads" + std::to_string(size), [size] { return std::make_unique<ThreadWorld>(size); }};
}

INSTANTIATE_TEST_SUITE_P(Threads, CollectiveContract,
                         testing::Values(Threads(1), Threads(2), Threads(3), Threads(4),
                                         Threads(7)),
                         WorldName);

TEST(ThreadCollectives, NeedARank) {
  EXPECT_THAT(ErrorOf([] { ThreadCollectives(0); }).what(), testing::HasSubstr("0 ranks"));
}

}  // namespace
}  // namespace recpack::train
