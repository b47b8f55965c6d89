// Tests that the emulated machine captures and launches graphs as CUDA does.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/train/cuda_emulated/device_array.h"
#include "tests/train/cuda_emulated/emulated_machine.h"

namespace recpack::train {
namespace {

constexpr size_t kCount = 16;

class EmulatedGraphs : public EmulatedMachine {
 protected:
  static cudaError_t Begin(cudaStream_t stream,
                           cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    return cudaStreamBeginCapture(stream, mode);
  }
  static cudaError_t Fill(const DeviceArray32& array, int value, cudaStream_t stream) {
    return cudaMemsetAsync(array.data(), value, array.bytes(), stream);
  }
  static std::vector<uint32_t> All(uint32_t value) { return std::vector<uint32_t>(kCount, value); }

  // Ends an invalid capture.
  static void ExpectInvalid(cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    EXPECT_EQ(cudaStreamIsCapturing(stream, &status), cudaSuccess);
    EXPECT_EQ(status, cudaStreamCaptureStatusInvalidated);
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(graph, nullptr);
    EXPECT_EQ(cudaStreamIsCapturing(stream, &status), cudaSuccess);
    EXPECT_EQ(status, cudaStreamCaptureStatusNone);
  }
};

TEST_F(EmulatedGraphs, WhatIsCapturedRunsAtEachLaunchAndNotBefore) {
  const TestStream stream;
  const DeviceArray32 from(kCount), to(kCount);
  ASSERT_EQ(Fill(from, 0, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  ASSERT_EQ(Begin(stream), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(to.data(), from.data(), to.bytes(), cudaMemcpyDeviceToDevice, stream),
            cudaSuccess);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(to.Values(), All(0xffffffff));
  for (const int value : {0, 1}) {
    ASSERT_EQ(Fill(from, value, stream), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(to.Values(), All(value == 0 ? 0 : 0x01010101));
  }
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

// Two streams of one capture, joined by events.
TEST_F(EmulatedGraphs, EventsOrderStreamsOfACapture) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    emulated::SetUp({.seed = seed});
    const TestStream stream, side;
    const TestEvent fork, join;
    const DeviceArray32 from(kCount), to(kCount);
    ASSERT_EQ(Begin(stream), cudaSuccess);
    ASSERT_EQ(cudaEventRecord(fork, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamWaitEvent(side, fork, 0), cudaSuccess);
    ASSERT_EQ(Fill(from, 0, side), cudaSuccess);
    ASSERT_EQ(cudaEventRecord(join, side), cudaSuccess);
    ASSERT_EQ(cudaStreamWaitEvent(stream, join, 0), cudaSuccess);
    ASSERT_EQ(cudaMemcpyAsync(to.data(), from.data(), to.bytes(), cudaMemcpyDefault, stream),
              cudaSuccess);
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    cudaGraphExec_t exec = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(to.Values(), All(0)) << "seed " << seed;
    EXPECT_EQ(cudaEventQuery(join), cudaErrorCapturedEvent);
    EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  }
}

// Uses a stream that is not part of the capture.
TEST_F(EmulatedGraphs, ExternalEventsAreRecordedByEachLaunch) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    emulated::SetUp({.seed = seed});
    const TestStream stream, reader;
    const TestEvent filled;
    const DeviceArray32 from(kCount), to(kCount);
    EXPECT_EQ(cudaEventRecordWithFlags(filled, stream, cudaEventRecordExternal),
              cudaErrorInvalidValue);
    ASSERT_EQ(Begin(stream), cudaSuccess);
    ASSERT_EQ(Fill(from, 0, stream), cudaSuccess);
    ASSERT_EQ(cudaEventRecordWithFlags(filled, stream, cudaEventRecordExternal), cudaSuccess);
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    cudaGraphExec_t exec = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    ASSERT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    for (int launch = 0; launch < 2; ++launch) {
      ASSERT_EQ(Fill(from, 1, stream), cudaSuccess);
      ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
      ASSERT_EQ(cudaStreamWaitEvent(reader, filled, 0), cudaSuccess);
      ASSERT_EQ(
          cudaMemcpyAsync(to.data(), from.data(), to.bytes(), cudaMemcpyDeviceToDevice, reader),
          cudaSuccess);
      ASSERT_EQ(cudaStreamSynchronize(reader), cudaSuccess);
      EXPECT_EQ(to.Values(), All(0)) << "seed " << seed;
    }
    EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  }
}

TEST_F(EmulatedGraphs, AStreamThatDoesNotComeBackIsRefused) {
  const TestStream stream, side;
  const TestEvent fork;
  const DeviceArray32 array(kCount);
  ASSERT_EQ(Begin(stream), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(fork, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(side, fork, 0), cudaSuccess);
  ASSERT_EQ(Fill(array, 0, side), cudaSuccess);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureUnjoined);
}

TEST_F(EmulatedGraphs, WhatWaitsForTheHostEndsACapture) {
  const TestStream stream, other;
  ASSERT_EQ(Begin(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
  ExpectInvalid(stream);

  void* memory = nullptr;
  ASSERT_EQ(Begin(stream), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&memory, 16), cudaErrorStreamCaptureUnsupported);
  ExpectInvalid(stream);

  const TestEvent outside;
  ASSERT_EQ(cudaEventRecord(outside, other), cudaSuccess);
  ASSERT_EQ(Begin(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(stream, outside, 0), cudaErrorStreamCaptureIsolation);
  ExpectInvalid(stream);
}

// Global: forbids other threads' calls too; thread-local: only its own; relaxed: none.
TEST_F(EmulatedGraphs, ModesSayWhoseCallsAreForbidden) {
  const TestStream stream;
  const auto allocate = [] {
    void* memory = nullptr;
    const cudaError_t error = cudaMalloc(&memory, 16);
    if (error == cudaSuccess) cudaFree(memory);
    return error;
  };
  const auto in_a_thread = [&] {
    cudaError_t error = cudaSuccess;
    std::thread([&] { error = allocate(); }).join();
    return error;
  };
  ASSERT_EQ(Begin(stream), cudaSuccess);
  EXPECT_EQ(in_a_thread(), cudaErrorStreamCaptureUnsupported);
  ExpectInvalid(stream);

  cudaGraph_t graph = nullptr;
  ASSERT_EQ(Begin(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_EQ(in_a_thread(), cudaSuccess);
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  ASSERT_EQ(Begin(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_EQ(allocate(), cudaErrorStreamCaptureUnsupported);
  ExpectInvalid(stream);

  ASSERT_EQ(Begin(stream, cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT_EQ(allocate(), cudaSuccess);
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(EmulatedGraphs, UpdatesTakeGraphsOfTheSameShape) {
  const TestStream stream;
  const DeviceArray32 array(kCount);
  const auto capture = [&](int value, int times) {
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(Begin(stream), cudaSuccess);
    for (int i = 0; i < times; ++i) EXPECT_EQ(Fill(array, value, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    return graph;
  };
  const cudaGraph_t first = capture(1, 1), other = capture(0, 1), longer = capture(2, 2);
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&exec, first, 0), cudaSuccess);
  cudaGraphExecUpdateResultInfo info;
  EXPECT_EQ(cudaGraphExecUpdate(exec, longer, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);
  EXPECT_EQ(cudaGraphExecUpdate(exec, other, &info), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(array.Values(), All(0));
  for (const cudaGraph_t graph : {first, other, longer}) {
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  }
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

}  // namespace
}  // namespace recpack::train
