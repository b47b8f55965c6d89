#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "src/base/format.h"
#include "src/probe/events/event_reader.h"

namespace recpack::probe {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Runs a program that CUDA would load the library into.
class CuptiTraceTest : public testing::Test {
 protected:
  CuptiTraceTest() : folder_(format("{}recprobe-cupti-{}", testing::TempDir(), ::getpid())) {
    fs::create_directories(folder_);
  }
  ~CuptiTraceTest() override { fs::remove_all(folder_); }

  // `script`: see tests/probe/fake_cupti.cc. Returns the program's output.
  std::string Run(const std::string& script, const std::string& arguments = "",
                  const std::string& cupti = RECPACK_FAKE_CUPTI) {
    std::ofstream(folder_ + "/script") << script;
    const std::string command = format(
        "cd {0} && RECPACK_EVENTS={0} FAKE_CUPTI={0}/script RECPACK_CUPTI={1} "
        "CUDA_INJECTION64_PATH={2} NVTX_INJECTION64_PATH={2} {3} {4} > {0}/printed",
        folder_, cupti, RECPACK_INJECT, RECPACK_FAKE_CUDA_PROGRAM, arguments);
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::ifstream file(folder_ + "/printed");
    return std::string((std::istreambuf_iterator<char>(file)), {});
  }

  std::vector<TimedEvent> Events() const { return EventReader(folder_).Poll(); }

  std::string Notice() const {
    std::string text;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().extension() != ".notice") continue;
      std::ifstream file(entry.path());
      text += std::string((std::istreambuf_iterator<char>(file)), {});
    }
    return text;
  }

  const std::string folder_;
};

TEST_F(CuptiTraceTest, TellsOfTheDevicesWork) {
  Run("kernel 1 7 1000 1500 _Z3addPfS_i\n"
      "kernel 1 9 1600 1700 ncclDevKernel_AllReduce_Sum_f32_RING_LL\n"
      "copy 1 0 3 100 200 4096\ncopy 2 0 3 200 300 16\ncopy 8 0 3 300 400 8\n"
      "peer 1 3 400 500 99\nfill 0 3 500 600 1024\n");
  const auto events = Events();
  ASSERT_THAT(events, SizeIs(7));
  EXPECT_EQ(events[0].name, "add(float*, float*, int)");
  EXPECT_EQ(events[0].event.kind, EventKind::kDevice);
  EXPECT_EQ(events[0].event.device, 1);
  EXPECT_EQ(events[0].event.lane, 7u);
  EXPECT_EQ(events[0].event.begin, 1000);
  EXPECT_EQ(events[0].event.end, 1500);
  EXPECT_EQ(events[1].event.kind, EventKind::kCollective);
  const CopyKind kinds[] = {CopyKind::kHostToDevice, CopyKind::kDeviceToHost,
                            CopyKind::kDeviceToDevice, CopyKind::kPeerToPeer, CopyKind::kNone};
  const uint64_t bytes[] = {4096, 16, 8, 99, 1024};
  for (size_t i = 0; i < std::size(kinds); ++i) {
    EXPECT_EQ(events[2 + i].event.kind, EventKind::kCopy);
    EXPECT_EQ(events[2 + i].event.copy, kinds[i]) << i;
    EXPECT_EQ(events[2 + i].event.value, bytes[i]);
    EXPECT_EQ(events[2 + i].event.begin, 100 * static_cast<int64_t>(i + 1));
  }
  EXPECT_EQ(Notice(), "");
}

TEST_F(CuptiTraceTest, TellsOfCallsThatWorkOrWait) {
  const std::string script =
      "call runtime 211 5 10 20\ncall runtime 17 5 21 22\ncall runtime 217 6 30 40\n"
      "call driver 307 5 50 60\ncall driver 280 5 61 62\ncall driver 999 5 63 64\n";
  for (const char* cupti : {RECPACK_FAKE_CUPTI, RECPACK_FAKE_OLD_CUPTI}) {
    Run(script, "", cupti);
    const auto events = Events();
    ASSERT_THAT(events, SizeIs(4)) << cupti;
    EXPECT_EQ(events[0].name, "cudaLaunchKernel");
    EXPECT_EQ(events[0].event.kind, EventKind::kHost);
    EXPECT_EQ(events[0].event.lane, 5u);
    EXPECT_EQ(events[0].event.device, Event::kNoDevice);
    EXPECT_EQ(events[1].name, "cudaStreamSynchronize");
    EXPECT_EQ(events[2].name, "cuLaunchKernel");
    EXPECT_EQ(events[3].name, "cuMemcpyHtoDAsync");
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
}

TEST_F(CuptiTraceTest, TellsOfRangesThatNestAndOfMoments) {
  Run("marker 2 1 77 100 step\nmarker 2 2 77 110 NCCL:all\nmarker 4 2 77 120 NCCL:\n"
      "marker 1 3 78 125 here\nmarker 4 1 77 130 :\nmarker 4 9 77 140 :\nmarker 2 4 77 150 open\n");
  const auto events = Events();
  ASSERT_THAT(events, SizeIs(3));
  EXPECT_EQ(events[0].name, "NCCL:all");
  EXPECT_EQ(events[0].event.begin, 110);
  EXPECT_EQ(events[0].event.end, 120);
  EXPECT_EQ(events[1].name, "here");
  EXPECT_EQ(events[1].event.lane, 78u);
  EXPECT_EQ(events[1].event.end, 125);
  EXPECT_EQ(events[2].name, "step");
  EXPECT_EQ(events[2].event.kind, EventKind::kRange);
  EXPECT_EQ(events[2].event.end, 130);
}

TEST_F(CuptiTraceTest, NvtxGoesToTheSameCupti) { EXPECT_EQ(Run("", "nvtx"), "nvtx 5\ninit 1\n"); }

TEST_F(CuptiTraceTest, RecordsOfOtherKindsArePassedOver) {
  Run("graph\nkernel 0 1 10 20 k\n");
  EXPECT_THAT(Events(), SizeIs(1));
}

TEST_F(CuptiTraceTest, WorkWithoutTimesIsCountedAndNotShown) {
  Run("kernel 0 1 10 0 k\nkernel 0 1 0 0 k\ncopy 1 0 3 0 0 4096\nkernel 0 1 10 20 k\n");
  EXPECT_THAT(Events(), SizeIs(1));
  EXPECT_THAT(Notice(), HasSubstr("3 kernels and copies had not ended"));
}

TEST_F(CuptiTraceTest, WhatCuptiHoldsBackComesAtTheEnd) {
  Run("forced\nkernel 0 1 10 20 k\n");
  EXPECT_THAT(Events(), SizeIs(1));
}

TEST_F(CuptiTraceTest, EventsComeWhileTheProgramRuns) {
  EventReader reader(folder_);
  std::thread program([this] { Run("kernel 0 1 10 20 k\n", format("wait {}/go", folder_)); });
  std::vector<TimedEvent> events;
  while (events.empty()) {
    events = reader.Poll();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::ofstream(folder_ + "/go") << "";
  program.join();
  EXPECT_THAT(events, SizeIs(1));
  EXPECT_THAT(reader.Poll(), IsEmpty());
}

TEST_F(CuptiTraceTest, AForkedChildWritesNothing) {
  Run("forced\nkernel 0 1 10 20 k\n", "fork");
  EXPECT_THAT(Events(), SizeIs(1));
}

TEST_F(CuptiTraceTest, ItsMemoryIsBoundedAndWhatIsLostIsCounted) {
  Run("many 600000\n");
  EXPECT_GT(Events().size(), 100'000u);
  EXPECT_LT(Events().size(), 600'000u);
  EXPECT_THAT(Notice(), HasSubstr(format("{} records were dropped", 600'000 - Events().size())));
}

TEST_F(CuptiTraceTest, NamesAreBounded) {
  std::string script;
  for (int i = 0; i < 70'000; ++i) script += format("marker 1 {0} 1 {0} name{0}\n", i);
  Run(script);
  const auto events = Events();
  ASSERT_THAT(events, SizeIs(70'000));
  EXPECT_EQ(events.front().name, "name0");
  EXPECT_EQ(events.back().name, "");
  EXPECT_THAT(Notice(), HasSubstr("4464 events have no name"));
}

TEST_F(CuptiTraceTest, AnOlderCuptisClockIsMeasured) {
  // 1000 s behind ours.
  Run("fail cuptiActivityRegisterTimestampCallback 15\nskew -1000000000000\n"
      "kernel 0 1 5000 6000 k\n");
  const auto events = Events();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].event.end - events[0].event.begin, 1000);
  // The error depends on what runs between two readings of the clock.
  EXPECT_GT(events[0].event.begin, 999'000'000'000);
  EXPECT_LT(events[0].event.begin, 1'001'000'000'000);
  EXPECT_EQ(Notice(), "");
}

TEST_F(CuptiTraceTest, AnotherProfilerIsNamed) {
  EXPECT_EQ(Run("fail cuptiSubscribe 39\nkernel 0 1 10 20 k\n"), "init 1\n");
  EXPECT_THAT(Events(), IsEmpty());
  EXPECT_THAT(Notice(), HasSubstr("nothing is traced: another profiler (Nsight Systems) watches"));
}

TEST_F(CuptiTraceTest, CuptisRefusalIsPassedOn) {
  EXPECT_EQ(Run("fail cuptiSubscribe 33\n"), "init 1\n");
  EXPECT_THAT(Notice(), HasSubstr("cuptiSubscribe: CUPTI_ERROR_SOME (CUPTI error 33)"));
}

TEST_F(CuptiTraceTest, AKindThatMayNotBeTracedIsNamedAndTheOthersAre) {
  Run("fail cuptiActivityEnable-10 35\nkernel 0 1 10 20 k\ncopy 1 0 3 100 200 4096\n");
  EXPECT_THAT(Events(), SizeIs(1));
  EXPECT_THAT(Notice(),
              AllOf(HasSubstr("kernels are not traced: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"),
                    HasSubstr("NVreg_RestrictProfilingToAdminUsers=0")));
}

TEST_F(CuptiTraceTest, AMissingCuptiIsNamedAndTheProgramGoesOn) {
  EXPECT_EQ(Run("", "nvtx", folder_ + "/libcupti.so.99"), "nvtx 0\ninit 1\n");
  EXPECT_THAT(Notice(), AllOf(HasSubstr("nothing is traced: "), HasSubstr("libcupti.so.99")));
}

}  // namespace
}  // namespace recpack::probe
