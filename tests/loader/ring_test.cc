#include "src/loader/batch/ring.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace recpack {
namespace {

constexpr size_t kSlots = 4;

class RingTest : public testing::Test {
 protected:
  std::shared_ptr<Ring> MakeRing(Ring::Memory memory) {
    return std::make_shared<Ring>(kSlots, 64, 1, 1, HostSlabs(), memory, page_);
  }

  // Writes a whole batch as a worker; returns its memory.
  static void* Write(Ring& ring, uint64_t batch) {
    EXPECT_EQ(ring.WaitForRoom(batch), Ring::Turn::kRoom);
    EXPECT_TRUE(ring.FinishChunk(batch));
    ring.Publish(batch);
    return ring.slot(batch).memory->bytes();
  }

  uint64_t slabs() { return page_->blocks().ring.slabs; }

  const std::shared_ptr<StatsPage> page_ = std::make_shared<StatsPage>(
      StatsPage::Sizes{.workers = 1, .slots = kSlots, .batch_size = 1, .batch_bytes = 64});
};

TEST_F(RingTest, AConsumerThatKeepsUpIsGivenOneSlabAgainAndAgain) {
  const auto ring = MakeRing(Ring::Memory::kLastUsed);
  std::set<void*> used;
  for (uint64_t batch = 0; batch < 3 * kSlots; ++batch) {
    used.insert(Write(*ring, batch));
    ring->Give(batch).reset();
  }
  EXPECT_EQ(used.size(), 1u);
}

TEST_F(RingTest, SlabsOfSlotsGoRound) {
  const auto ring = MakeRing(Ring::Memory::kOfSlot);
  std::vector<void*> used;
  for (uint64_t batch = 0; batch < 3 * kSlots; ++batch) {
    used.push_back(Write(*ring, batch));
    ring->Give(batch).reset();
  }
  for (uint64_t batch = kSlots; batch < used.size(); ++batch) {
    EXPECT_EQ(used[batch], used[batch - kSlots]) << batch;
  }
  EXPECT_EQ(std::set(used.begin(), used.end()).size(), kSlots);
}

TEST_F(RingTest, BatchesThatWaitLieInSlabsOfTheirOwn) {
  const auto ring = MakeRing(Ring::Memory::kLastUsed);
  for (uint64_t round = 0; round < 3; ++round) {
    std::set<void*> used;
    for (uint64_t i = 0; i < kSlots; ++i) used.insert(Write(*ring, round * kSlots + i));
    EXPECT_EQ(used.size(), kSlots);
    for (uint64_t i = 0; i < kSlots; ++i) ring->Give(round * kSlots + i).reset();
  }
  EXPECT_EQ(slabs(), kSlots);
}

TEST_F(RingTest, WhatLeftTheRingIsUsedAgainOnceItIsLetGoOf) {
  const auto ring = MakeRing(Ring::Memory::kLastUsed);
  void* const first = Write(*ring, 0);
  std::shared_ptr<void> held = ring->Give(0);
  ring->Replace(0);
  EXPECT_EQ(slabs(), kSlots + 1);
  std::set<void*> used;
  for (uint64_t batch = 1; batch <= kSlots; ++batch) used.insert(Write(*ring, batch));
  EXPECT_EQ(used.size(), kSlots);
  EXPECT_FALSE(used.contains(first));

  held.reset();
  for (uint64_t batch = 1; batch <= kSlots; ++batch) held = ring->Give(batch);
  ring->Replace(kSlots);
  EXPECT_EQ(slabs(), kSlots + 1) << "that of batch 0 is free";
}

}  // namespace
}  // namespace recpack
