// Tests that the emulated machine runs work of streams as late and as interleaved as CUDA may.
#include <gtest/gtest.h>

#include <vector>

#include "tests/train/cuda_emulated/device_array.h"
#include "tests/train/cuda_emulated/emulated_machine.h"

namespace recpack::train {
namespace {

constexpr size_t kCount = 16;

class EmulatedStreams : public EmulatedMachine {};

// Pinned host numbers.
class Pinned {
 public:
  explicit Pinned(uint32_t value) : values_(kCount, value) {
    EXPECT_EQ(cudaHostRegister(values_.data(), bytes(), cudaHostRegisterPortable), cudaSuccess);
  }
  ~Pinned() { EXPECT_EQ(cudaHostUnregister(values_.data()), cudaSuccess); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  std::vector<uint32_t>& operator*() { return values_; }
  void CopyTo(const DeviceArray32& to, cudaStream_t stream) {
    EXPECT_EQ(cudaMemcpyAsync(to.data(), values_.data(), bytes(), cudaMemcpyHostToDevice, stream),
              cudaSuccess);
  }

 private:
  size_t bytes() const { return values_.size() * sizeof(uint32_t); }
  std::vector<uint32_t> values_;
};

TEST_F(EmulatedStreams, NewMemoryIsGarbage) {
  const DeviceArray32 array(kCount);
  EXPECT_EQ(array.Values(), std::vector<uint32_t>(kCount, 0xffffffff));
}

TEST_F(EmulatedStreams, WorkWaitsUntilSomebodyDoes) {
  emulated::SetUp({.early = 0});
  const TestStream stream;
  const DeviceArray32 array(kCount);
  ASSERT_EQ(cudaMemsetAsync(array.data(), 0, array.bytes(), stream), cudaSuccess);
  EXPECT_EQ(emulated::WhatLives().work, 1u);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(emulated::WhatLives().work, 0u);
  EXPECT_EQ(array.Values(), std::vector<uint32_t>(kCount, 0));
}

// Pinned memory is read when the copy runs, other memory before the call returns.
TEST_F(EmulatedStreams, PinnedMemoryIsReadLate) {
  emulated::SetUp({.early = 0});
  const TestStream stream;
  const DeviceArray32 late(kCount), early(kCount);
  Pinned pinned(1);
  std::vector<uint32_t> pageable(kCount, 1);
  pinned.CopyTo(late, stream);
  ASSERT_EQ(
      cudaMemcpyAsync(early.data(), pageable.data(), early.bytes(), cudaMemcpyDefault, stream),
      cudaSuccess);
  (*pinned)[0] = pageable[0] = 2;
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(late.Values()[0], 2u);
  EXPECT_EQ(early.Values()[0], 1u);
}

// One stream writes, another copies: the result is always right with an event, not always without.
bool CopiesWhatWasWritten(bool wait, uint64_t seed) {
  emulated::SetUp({.seed = seed});
  const DeviceArray32 from(kCount), to(kCount);
  const TestStream writer, reader;
  const TestEvent written;
  EXPECT_EQ(cudaMemsetAsync(from.data(), 0, from.bytes(), writer), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(written, writer), cudaSuccess);
  if (wait) {
    EXPECT_EQ(cudaStreamWaitEvent(reader, written, 0), cudaSuccess);
  }
  EXPECT_EQ(cudaMemcpyAsync(to.data(), from.data(), to.bytes(), cudaMemcpyDeviceToDevice, reader),
            cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(reader), cudaSuccess);
  return to.Values()[0] == 0;
}

TEST_F(EmulatedStreams, EventsOrderStreamsAndNothingElseDoes) {
  int wrong = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_TRUE(CopiesWhatWasWritten(true, seed));
    if (!CopiesWhatWasWritten(false, seed)) ++wrong;
  }
  EXPECT_GT(wrong, 10);
}

TEST_F(EmulatedStreams, EventsAreCompleteWhenTheirStreamIsThere) {
  emulated::SetUp({.early = 0});
  const TestStream stream;
  const TestEvent event, last;
  const DeviceArray32 array(kCount);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess) << "never recorded";
  ASSERT_EQ(cudaMemsetAsync(array.data(), 0, array.bytes(), stream), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(last, stream), cudaSuccess);
  float milliseconds = -1;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, event, last), cudaErrorNotReady);
  ASSERT_EQ(cudaEventSynchronize(last), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, event, last), cudaSuccess);
  EXPECT_GE(milliseconds, 0);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  const TestEvent of_other;
  EXPECT_EQ(cudaEventRecord(of_other, stream), cudaErrorInvalidResourceHandle);
}

TEST_F(EmulatedStreams, CopiesGoWhereTheySay) {
  const DeviceArray32 first(kCount);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  const DeviceArray32 second(kCount);
  const TestStream stream;
  std::vector<uint32_t> host(kCount, 5);
  EXPECT_EQ(
      cudaMemcpyAsync(first.data(), host.data(), first.bytes(), cudaMemcpyDeviceToHost, stream),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaMemcpyAsync(first.data(), host.data(), first.bytes() + 4, cudaMemcpyHostToDevice, stream),
      cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyPeerAsync(first.data(), 1, second.data(), 0, 4, stream),
            cudaErrorInvalidValue);
  ASSERT_EQ(cudaMemset(second.data(), 0, second.bytes()), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  ASSERT_EQ(cudaMemcpyPeerAsync(first.data(), 0, second.data(), 1, first.bytes(), stream),
            cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(first.Values(), std::vector<uint32_t>(kCount, 0));
}

TEST_F(EmulatedStreams, CallsMemoryAndWorkFailAsAsked) {
  emulated::SetUp({.memory = 1000});
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 1001), cudaErrorMemoryAllocation);
  emulated::FailCall("cudaMalloc", cudaErrorMemoryAllocation, 1);
  const DeviceArray32 array(kCount);
  EXPECT_EQ(cudaMalloc(&memory, 4), cudaErrorMemoryAllocation);
  size_t free = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_EQ(free, total - array.bytes());

  emulated::FailWork(0, cudaErrorIllegalAddress);
  ASSERT_EQ(cudaMemsetAsync(array.data(), 0, array.bytes(), nullptr), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaMemsetAsync(array.data(), 0, array.bytes(), nullptr), cudaErrorIllegalAddress);
}

}  // namespace
}  // namespace recpack::train
