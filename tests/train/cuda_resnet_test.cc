#include "tests/train/cuda_device.h"
#include "tests/train/resnet_contract.h"

namespace recpack::train {
namespace {

INSTANTIATE_TEST_SUITE_P(Cuda, ResnetContract, testing::Values(OpsFactory([] {
                           return CudaOpsIfThere({.tf32 = false});
                         })));

}  // namespace
}  // namespace recpack::train
