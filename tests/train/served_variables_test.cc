// A parameter server's guarantees to its devices while the thread that updates variables is
// delayed.
#include "src/train/strategies/served_variables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "recpack/base/error.h"
#include "tests/train/plain_ops.h"

namespace recpack::train {
namespace {

// A gate that a keeper waits for before each update.
struct Gate {
  std::latch open{1};
  std::atomic<bool> opened = false, waited_at = false;

  void Open() {
    opened = true;
    open.count_down();
  }
  void AwaitKeeper() const {
    while (!waited_at) std::this_thread::yield();
  }
};

class HeldOps final : public PlainOps {
 public:
  explicit HeldOps(Gate& gate) : gate_(gate) {}
  void Sgd(const SgdUpdate& update, float* value, const float* gradient, float* velocity,
           size_t count) override {
    gate_.waited_at = true;
    gate_.open.wait();
    PlainOps::Sgd(update, value, gradient, velocity, count);
  }

 private:
  Gate& gate_;
};

// Opens the gate after a moment, in which a caller that fails to wait would return.
std::jthread OpenSoon(Gate& gate) {
  return std::jthread([&gate] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    gate.Open();
  });
}

// Two devices with `count` variables each, and their server, whose updates wait for the gate.
class ServedVariablesTest : public testing::Test {
 protected:
  void Serve(bool async, size_t count) {
    const auto server = std::make_shared<ParameterServer>(
        ParameterServerOptions{.optimizer = {.kind = OptimizerKind::kSgd, .rate = 1, .decay = 0},
                               .devices = 2,
                               .async = async,
                               .keepers = {[this] { return std::make_unique<HeldOps>(gate_); }}});
    variables_.reserve(2);
    served_.reserve(2);
    for (size_t device = 0; device < 2; ++device) {
      variables_.push_back(std::make_unique<Variables>());
      for (size_t i = 0; i < count; ++i) variables_[device]->Add({std::to_string(i), {4}});
      variables_[device]->Allocate(ops_[device], 0, 1);
      served_.push_back(std::make_unique<ServedVariables>(server, device));
    }
  }
  void Start() {
    for (size_t device = 0; device < 2; ++device) {
      served_[device]->Start(ops_[device], *variables_[device]);
    }
  }
  // A gradient with this value in every element.
  void Send(size_t device, size_t variable, float gradient) {
    std::fill_n(variables_[device]->Gradient(variable), 4, gradient);
    served_[device]->Ready(variable);
  }
  float Value(size_t device, size_t variable) const { return *variables_[device]->At(variable); }

  Gate gate_;
  PlainOps ops_[2];
  std::vector<std::unique_ptr<Variables>> variables_;
  std::vector<std::unique_ptr<ServedVariables>> served_;
};

TEST_F(ServedVariablesTest, WhatIsSettledHasAllThatWasSentEachByItsOwnStep) {
  Serve(true, 2);
  Start();
  served_[0]->BeginStep({.rate = 1, .number = 1});
  served_[1]->BeginStep({.rate = 10, .number = 4});
  Send(0, 1, 5);
  gate_.AwaitKeeper();
  Send(0, 0, 1);
  Send(1, 0, 2);
  const auto opener = OpenSoon(gate_);
  for (size_t device = 0; device < 2; ++device) {
    served_[device]->EndStep();
    served_[device]->Settle();
    EXPECT_EQ(Value(device, 0), -21.0F) << "1 * 1 + 10 * 2";
    EXPECT_EQ(Value(device, 1), -5.0F);
  }
}

TEST_F(ServedVariablesTest, WhatIsSettledHasTheStepsOfAllDevices) {
  Serve(false, 2);
  Start();
  for (const auto& served : served_) served->BeginStep({.rate = 1, .number = 1});
  for (const size_t variable : {1, 0}) Send(0, variable, 1);
  served_[0]->EndStep();
  const std::jthread other([this] {
    for (const size_t variable : {1, 0}) Send(1, variable, 2);
    served_[1]->EndStep();
  });
  const auto opener = OpenSoon(gate_);
  served_[0]->Settle();
  for (const size_t variable : {1, 0}) EXPECT_EQ(Value(0, variable), -3.0F);
}

TEST_F(ServedVariablesTest, NothingThatADeviceSentIsReadOnceItIsGone) {
  Serve(true, 1);
  Start();
  served_[0]->BeginStep({.rate = 1, .number = 1});
  Send(0, 0, 1);
  gate_.AwaitKeeper();
  const auto opener = OpenSoon(gate_);
  served_[0].reset();
  EXPECT_TRUE(gate_.opened) << "the update was under way";
}

TEST_F(ServedVariablesTest, MayBeAbortedByADeviceThatFailsWhileAnotherStarts) {
  Serve(true, 300);
  {
    const std::jthread starts([this] { served_[0]->Start(ops_[0], *variables_[0]); });
    served_[1]->Abort("no memory");
  }
  try {
    served_[0]->Settle();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.reason(), "no memory");
  }
}

}  // namespace
}  // namespace recpack::train
