// Fixture with a new emulated machine per test; checks for leaks.
#pragma once

#include <gtest/gtest.h>

#include "tests/train/cuda_emulated/emulator.h"

namespace recpack::train {

class EmulatedMachine : public testing::Test {
 protected:
  void SetUp() override { emulated::SetUp({}); }
  void TearDown() override {
    const emulated::Live live = emulated::WhatLives();
    EXPECT_EQ(live.arrays, 0u);
    EXPECT_EQ(live.pinned, 0u);
    EXPECT_EQ(live.streams, 0u);
    EXPECT_EQ(live.events, 0u);
    EXPECT_EQ(live.graphs, 0u);
  }
};

}  // namespace recpack::train
