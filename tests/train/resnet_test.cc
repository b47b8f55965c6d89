#include "src/train/cpu/cpu_ops.h"
#include "tests/train/resnet_contract.h"

namespace recpack::train {
namespace {

INSTANTIATE_TEST_SUITE_P(Cpu, ResnetContract,
                         testing::Values(OpsFactory([] { return MakeCpuOps({.threads = 2}); })));

}  // namespace
}  // namespace recpack::train
