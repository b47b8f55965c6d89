// Arrays, streams and events of the current device, for tests.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace recpack::train {

class DeviceArray32 {
 public:
  explicit DeviceArray32(size_t count) : count_(count) {
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, count * sizeof(uint32_t)), cudaSuccess);
    data_ = static_cast<uint32_t*>(memory);
  }
  ~DeviceArray32() { EXPECT_EQ(cudaFree(data_), cudaSuccess); }
  DeviceArray32(const DeviceArray32&) = delete;
  DeviceArray32& operator=(const DeviceArray32&) = delete;

  uint32_t* data() const { return data_; }
  size_t bytes() const { return count_ * sizeof(uint32_t); }

  // Sees all work enqueued so far in streams that were waited for.
  std::vector<uint32_t> Values() const {
    std::vector<uint32_t> values(count_);
    EXPECT_EQ(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost), cudaSuccess);
    return values;
  }

 private:
  size_t count_;
  uint32_t* data_ = nullptr;
};

// A stream of the current device without implicit ordering.
class TestStream {
 public:
  TestStream() { EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), 0); }
  ~TestStream() { EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess); }
  TestStream(const TestStream&) = delete;
  TestStream& operator=(const TestStream&) = delete;
  operator cudaStream_t() const { return stream_; }  // NOLINT: passed to CUDA

 private:
  cudaStream_t stream_ = nullptr;
};

class TestEvent {
 public:
  TestEvent() { EXPECT_EQ(cudaEventCreateWithFlags(&event_, cudaEventDefault), cudaSuccess); }
  ~TestEvent() { EXPECT_EQ(cudaEventDestroy(event_), cudaSuccess); }
  TestEvent(const TestEvent&) = delete;
  TestEvent& operator=(const TestEvent&) = delete;
  operator cudaEvent_t() const { return event_; }  // NOLINT: passed to CUDA

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace recpack::train
