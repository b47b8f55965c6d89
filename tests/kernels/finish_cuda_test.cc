// Tests of LaunchFinish() against the host's results. Skipped without a device.
#include "recpack/kernels/finish_cuda.h"

#include <cuda_runtime.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/cuda/finish_launch.h"
#include "recpack/base/error.h"
#include "tests/kernels/finish_cases.h"

namespace recpack {
namespace {

void Check(cudaError_t error) { ASSERT_EQ(error, cudaSuccess) << cudaGetErrorString(error); }

bool HasDevice() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
}

// Device memory.
class DeviceBytes {
 public:
  explicit DeviceBytes(size_t size) { Check(cudaMalloc(&data_, size)); }
  ~DeviceBytes() { cudaFree(data_); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  uint8_t* get() const { return static_cast<uint8_t*>(data_); }

 private:
  void* data_ = nullptr;
};

class FinishCuda : public testing::Test {
 protected:
  static constexpr size_t kGuard = 64;

  void SetUp() override {
    if (!HasDevice()) GTEST_SKIP() << "there is no CUDA device";
    Check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  void TearDown() override {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }

  // Returns the results of a batch written `offset` elements after an aligned address.
  std::vector<uint8_t> OnDevice(const FinishOptions& o, const std::vector<uint8_t>& images,
                                const std::vector<FinishGeometry>& places, size_t offset) {
    const size_t bytes = Finisher(o).out_bytes() * places.size();
    const size_t begin = kGuard + offset * ElementBytes(o.type);
    const size_t places_bytes = places.size() * sizeof(FinishGeometry);
    const DeviceBytes from(images.size()), geometry(places_bytes), to(begin + bytes + kGuard);
    std::vector<uint8_t> memory(begin + bytes + kGuard);
    Check(cudaMemcpyAsync(from.get(), images.data(), images.size(), cudaMemcpyDefault, stream_));
    Check(cudaMemcpyAsync(geometry.get(), places.data(), places_bytes, cudaMemcpyDefault, stream_));
    Check(cudaMemsetAsync(to.get(), 0xa5, memory.size(), stream_));
    LaunchFinish(o, from.get(), reinterpret_cast<const FinishGeometry*>(geometry.get()),
                 static_cast<int>(places.size()), to.get() + begin, stream_);
    Check(cudaMemcpyAsync(memory.data(), to.get(), memory.size(), cudaMemcpyDefault, stream_));
    Check(cudaStreamSynchronize(stream_));
    const auto first = memory.begin() + static_cast<ptrdiff_t>(begin);
    const auto last = first + static_cast<ptrdiff_t>(bytes);
    EXPECT_TRUE(std::all_of(memory.begin(), first, [](uint8_t byte) { return byte == 0xa5; }));
    EXPECT_TRUE(std::all_of(last, memory.end(), [](uint8_t byte) { return byte == 0xa5; }));
    return {first, last};
  }

  static std::vector<uint8_t> OnHost(const FinishOptions& o, const std::vector<uint8_t>& images,
                                     const std::vector<FinishGeometry>& places) {
    const Finisher finisher(o);
    std::vector<uint8_t> out(finisher.out_bytes() * places.size());
    for (size_t i = 0; i < places.size(); ++i) {
      finisher(images.data() + i * (images.size() / places.size()), places[i],
               out.data() + i * finisher.out_bytes());
    }
    return out;
  }

  void ExpectSame(const FinishOptions& o, const std::vector<FinishGeometry>& places,
                  size_t offset) {
    FinishOptions all = o;
    all.in_height *= static_cast<int>(places.size());
    const std::vector<uint8_t> images = Noise(all);
    EXPECT_EQ(OnDevice(o, images, places, offset), OnHost(o, images, places))
        << Describe(o, places[0]) << " and more, " << offset << " elements off";
  }

  cudaStream_t stream_ = nullptr;
};

TEST_F(FinishCuda, EverySizeTypeLayoutAndPlace) {
  for (const ElementType type : kTypes) {
    VisitOptions(type, 1, [&](const FinishOptions& o) {
      ExpectSame(o, Places(o), 0);
      return !HasFailure();
    });
  }
}

TEST_F(FinishCuda, ResultsThatAreAlignedToAnElementOnly) {
  for (const ElementType type : kTypes) {
    VisitOptions(type, 37, [&](const FinishOptions& o) {
      for (const size_t offset : {1, 2, 3}) ExpectSame(o, Places(o), offset);
      return !HasFailure();
    });
  }
}

TEST_F(FinishCuda, MoreImagesThanAGridHolds) {
  FinishOptions o = OptionsOf(ElementType::kBf16);
  o.in_height = o.in_width = o.out_height = o.out_width = 2;
  std::vector<FinishGeometry> places(200'000);
  for (size_t i = 0; i < places.size(); ++i) {
    places[i] = {static_cast<int>(i % 3) - 1, static_cast<int>(i % 5) - 2, i % 2 == 1};
  }
  ExpectSame(o, places, 0);
}

TEST_F(FinishCuda, PicturesOfImageNet) {
  FinishOptions o = OptionsOf(ElementType::kF16);
  o.in_height = o.in_width = 256;
  o.out_height = o.out_width = 224;
  for (const ImageLayout out : kLayouts) {
    o.out_layout = out;
    ExpectSame(o, {{16, 16, false}, {0, 32, true}, {-3, 40, true}, {32, 0, false}}, 0);
  }
}

TEST_F(FinishCuda, ReportsItsOwnErrorAloneAndOnce) {
  FinishOptions o = OptionsOf(ElementType::kF32);
  o.in_height = o.in_width = o.out_height = o.out_width = 4;
  const DeviceBytes from(48), geometry(sizeof(FinishGeometry)), to(192);
  Check(cudaMemsetAsync(geometry.get(), 0, sizeof(FinishGeometry), stream_));
  const auto launch = [&](uint32_t threads) {
    LaunchFinishBlocks(o, from.get(), reinterpret_cast<const FinishGeometry*>(geometry.get()), 1,
                       to.get(), stream_, threads);
  };
  EXPECT_THROW(launch(4096), Error) << "no block is that large";
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  EXPECT_NE(cudaSetDevice(-5), cudaSuccess);  // error of unrelated code
  EXPECT_NO_THROW(launch(64));
  EXPECT_NE(cudaGetLastError(), cudaSuccess) << "it is left for whoever made it";
}

TEST(LaunchFinish, RefusesWithoutADevice) {
  FinishOptions o = OptionsOf(ElementType::kF32);
  EXPECT_THROW(LaunchFinish(o, nullptr, nullptr, 1, nullptr, nullptr), Error) << "no sizes";
  o.in_height = o.in_width = o.out_height = o.out_width = 4;
  EXPECT_THROW(LaunchFinish(o, nullptr, nullptr, -1, nullptr, nullptr), Error);
  EXPECT_NO_THROW(LaunchFinish(o, nullptr, nullptr, 0, nullptr, nullptr));
  o.out_height = o.out_width = 65536;
  try {
    LaunchFinish(o, nullptr, nullptr, 1, nullptr, nullptr);
    FAIL() << "a result of 3 * 2^32 elements was started";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
  }
}

TEST(LaunchFinish, SaysThatThereIsNoDevice) {
  if (HasDevice()) GTEST_SKIP() << "there is a CUDA device";
  FinishOptions o = OptionsOf(ElementType::kF32);
  o.in_height = o.in_width = o.out_height = o.out_width = 4;
  try {
    LaunchFinish(o, nullptr, nullptr, 1, nullptr, nullptr);
    FAIL() << "a kernel started without a device";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kDevice);
    EXPECT_THAT(error.what(), testing::HasSubstr("did not start"));
  }
}

}  // namespace
}  // namespace recpack
