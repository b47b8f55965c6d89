// Feeder on CUDA devices, compared with the loader itself. Skipped if there is no device.
#include <cuda_runtime.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "recpack/base/error.h"
#include "recpack/device/feeder.h"
#include "recpack/device/slabs.h"
#include "tests/loader/small_split.h"

namespace recpack {
namespace {

using testing::HasSubstr;

LoaderOptions Options(ElementType type, ImageLayout layout) {
  LoaderOptions options{.fields = SmallFields(), .batch_size = 8, .seed = 5, .threads = 2};
  auto& image = std::get<ImageField>(options.fields[0]);
  image.type = type;
  image.layout = layout;
  image.mean = {0.4, 0.5, 0.6};
  return options;
}

TEST(CudaRuntime, SaysHowManyDevicesThereAreOrWhyNone) {
  ASSERT_NE(LinkedRuntime(), nullptr);
  const DeviceCount count = LinkedRuntime()->Count();
  if (count.devices > 0) {
    EXPECT_EQ(count.reason, "");
    EXPECT_NE(LinkedRuntime()->Info(0).name, "");
    return;
  }
  EXPECT_THAT(count.reason, HasSubstr("no CUDA device"));
  try {
    LinkedRuntime()->Allocate(0, 100);
    FAIL() << "there is memory of no device";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kDevice);
    EXPECT_THAT(error.what(), HasSubstr("cuda"));
  }
}

TEST(CudaRuntime, WithoutADeviceTheHostServes) {
  if (LinkedRuntime()->Count().devices > 0) GTEST_SKIP() << "there is a CUDA device";
  const SmallSplit split(20);
  DeviceFeeder feeder(Dataset::Open(split.folder()),
                      Options(ElementType::kF32, ImageLayout::kNchw));
  EXPECT_THAT(feeder.reason(), HasSubstr("no CUDA device"));
  EXPECT_EQ(feeder.Next()->device(), -1);
}

class CudaFeeder : public testing::Test {
 protected:
  void SetUp() override {
    if (LinkedRuntime()->Count().devices == 0) GTEST_SKIP() << "there is no CUDA device";
  }
};

// Few slots, the same device twice, and readers on a stream of each.
TEST_F(CudaFeeder, GivesTheBitsOfTheHost) {
  const SmallSplit split(103);
  const Dataset dataset = Dataset::Open(split.folder());
  for (const ElementType type :
       {ElementType::kU8, ElementType::kF16, ElementType::kBf16, ElementType::kF32}) {
    for (const ImageLayout layout : {ImageLayout::kNhwc, ImageLayout::kNchw}) {
      Loader expected(dataset, Options(type, layout));
      DeviceFeeder feeder(dataset, Options(type, layout), {.devices = {0, 0}, .depth = 2});
      EXPECT_EQ(feeder.reason(), "");
      cudaStream_t stream;
      ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
      for (int i = 0; i < 12; ++i) {
        const auto host = expected.Next();
        auto batch = feeder.Next(static_cast<size_t>(i % 2));
        ASSERT_TRUE(batch && host);
        batch->OnStream(i % 3 == 0 ? nullptr : stream);
        for (size_t a = 0; a < batch->arrays().size(); ++a) {
          const size_t bytes = batch->arrays()[a].sample_bytes * batch->size();
          std::vector<uint8_t> got(bytes);
          ASSERT_EQ(cudaMemcpyAsync(got.data(), batch->Raw(a), bytes, cudaMemcpyDeviceToHost,
                                    i % 3 == 0 ? nullptr : stream),
                    cudaSuccess);
          ASSERT_EQ(cudaStreamSynchronize(i % 3 == 0 ? nullptr : stream), cudaSuccess);
          EXPECT_EQ(std::memcmp(got.data(), host->Raw(a), bytes), 0)
              << batch->arrays()[a].name << " of batch " << i;
        }
      }
      cudaStreamDestroy(stream);
    }
  }
}

TEST_F(CudaFeeder, MoreMemoryThanThereIsIsAnError) {
  try {
    LinkedRuntime()->Allocate(0, size_t{1} << 50);
    FAIL() << "a device has a petabyte";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cudaMalloc of 1125899906842624 bytes on device 0"));
    EXPECT_THAT(error.what(), HasSubstr("depth"));
  }
  const SmallSplit split(20);
  DeviceFeeder feeder(Dataset::Open(split.folder()),
                      Options(ElementType::kF32, ImageLayout::kNchw));
  EXPECT_TRUE(feeder.Next()) << "the error was left behind";
}

TEST_F(CudaFeeder, PinnedMemoryIsWhatTheDriverCallsPinned) {
  PinnedSlabs slabs(*LinkedRuntime(), {0});
  const auto slab = slabs.Allocate(5 << 20);
  cudaPointerAttributes attributes;
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, slab.get()), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
}

}  // namespace
}  // namespace recpack
