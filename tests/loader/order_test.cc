#include "recpack/loader/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "recpack/base/error.h"
#include "recpack/base/hash.h"

namespace recpack {
namespace {

OrderSpec Window(uint32_t block, uint32_t lanes, uint32_t blocks) {
  return {OrderKind::kWindow, block, lanes, blocks};
}

std::vector<uint64_t> All(const OrderSpec& spec, uint64_t seed, uint64_t epoch, uint64_t records) {
  Order order(spec, seed, epoch, records);
  std::vector<uint64_t> ids;
  for (uint64_t p = 0; p < records; ++p) ids.push_back(order(p));
  return ids;
}

bool IsPermutation(std::vector<uint64_t> ids) {
  std::ranges::sort(ids);
  for (uint64_t i = 0; i < ids.size(); ++i) {
    if (ids[i] != i) return false;
  }
  return true;
}

struct OrderCase {
  OrderSpec spec;
  uint64_t records;
};

class EveryOrder : public testing::TestWithParam<OrderCase> {};

TEST_P(EveryOrder, IsABijection) {
  for (uint64_t epoch : {0, 1, 77}) {
    EXPECT_TRUE(IsPermutation(All(GetParam().spec, 3, epoch, GetParam().records)));
  }
}

TEST_P(EveryOrder, DoesNotDependOnWhatWasAskedBefore) {
  const auto [spec, records] = GetParam();
  const auto forward = All(spec, 9, 2, records);
  Order order(spec, 9, 2, records);
  for (uint64_t p = records; p-- > 0;) ASSERT_EQ(order(p), forward[p]) << p;
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, EveryOrder,
    testing::Values(OrderCase{{OrderKind::kSequential}, 10}, OrderCase{{OrderKind::kGlobal}, 1},
                    OrderCase{{OrderKind::kGlobal}, 1000}, OrderCase{{OrderKind::kGlobal}, 65'537},
                    OrderCase{Window(8, 4, 2), 1}, OrderCase{Window(8, 4, 2), 31},
                    OrderCase{Window(8, 4, 2), 32}, OrderCase{Window(8, 4, 2), 1000},
                    OrderCase{Window(7, 5, 3), 1'234}, OrderCase{Window(1, 64, 1), 6'400},
                    OrderCase{Window(10, 64, 2), 9'999}, OrderCase{Window(100, 3, 4), 100'000}));

TEST(Order, ChangesWithSeedAndEpoch) {
  for (const OrderSpec& spec : {OrderSpec{OrderKind::kGlobal}, Window(10, 8, 2)}) {
    const auto base = All(spec, 1, 0, 2000);
    EXPECT_NE(base, All(spec, 2, 0, 2000));
    EXPECT_NE(base, All(spec, 1, 1, 2000));
    EXPECT_EQ(base, All(spec, 1, 0, 2000));
  }
}

// Today's tokens must give the same order in ten years.
TEST(Order, IsFrozen) {
  const auto digest = [](const OrderSpec& spec) {
    Sha256 hash;
    for (uint64_t id : All(spec, 42, 7, 10'007)) {
      uint8_t bytes[8];
      StoreLittleEndian(bytes, id);
      hash.Update(bytes);
    }
    return Hex(hash.Finish()).substr(0, 16);
  };
  EXPECT_EQ(digest({OrderKind::kGlobal}), "ee3bd60e290e1b43");
  EXPECT_EQ(digest(Window(16, 64, 2)), "91bbc90daff8e202");
}

TEST(WindowOrder, APositionStaysInItsLane) {
  // The blocks of lane l are visited by it alone, window after window.
  constexpr uint32_t kBlock = 5, kLanes = 8, kWindow = 2;
  constexpr uint64_t kRecords = 5 * 8 * 6;  // six rounds, no tail
  Order order(Window(kBlock, kLanes, kWindow), 1, 0, kRecords);
  std::vector<std::set<uint64_t>> blocks(kLanes);
  for (uint64_t p = 0; p < kRecords; ++p) blocks[p % kLanes].insert(order(p) / kBlock);
  std::set<uint64_t> all;
  for (const auto& own : blocks) {
    EXPECT_EQ(own.size(), 6u);
    all.insert(own.begin(), own.end());
  }
  EXPECT_EQ(all.size(), 48u);
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    for (uint64_t window = 0; window < 3; ++window) {
      std::set<uint64_t> now;
      for (uint64_t i = 0; i < kBlock * kWindow; ++i) {
        now.insert(order((window * kBlock * kWindow + i) * kLanes + lane) / kBlock);
      }
      EXPECT_EQ(now.size(), kWindow) << lane << " " << window;
    }
  }
}

TEST(WindowOrder, ASubstituteComesFromTheSameWindow) {
  // Two blocks of 5 per window; three rounds of 8 lanes, so that the last windows are short; 12
  // left.
  constexpr uint32_t kBlock = 5, kLanes = 8;
  constexpr uint64_t kRecords = 5 * 8 * 3 + 12;
  Order order(Window(kBlock, kLanes, 2), 1, 0, kRecords);
  for (uint64_t p = 0; p < kRecords; ++p) {
    const auto window = [&](uint64_t q) {
      return q < 120 ? std::pair(q % kLanes, q / kLanes / 10) : std::pair(uint64_t{99}, uint64_t{});
    };
    const uint64_t size = p >= 120 ? 12 : p < 80 ? 10 : 5;
    std::set<uint64_t> others;
    for (uint64_t draw = 0; draw < 100; ++draw) {
      const uint64_t other = order.InSameWindow(p, draw);
      ASSERT_LT(other, kRecords);
      EXPECT_EQ(window(other), window(p)) << p << " " << other;
      others.insert(other);
    }
    EXPECT_EQ(others.size(), size - 1);
    EXPECT_FALSE(others.contains(p));
  }
}

TEST(Order, AnyRecordIsASubstituteWhereThereIsNoWindow) {
  for (const OrderSpec& spec : {OrderSpec{OrderKind::kGlobal}, OrderSpec{OrderKind::kSequential},
                                Window(1, 2, 1)}) {  // windows of one record
    const Order order(spec, 1, 0, 21);
    std::set<uint64_t> others;
    for (uint64_t draw = 0; draw < 40; ++draw) others.insert(order.InSameWindow(7, draw));
    EXPECT_EQ(others.size(), 20u);
    EXPECT_FALSE(others.contains(7));
    EXPECT_EQ(Order(spec, 1, 0, 1).InSameWindow(0, 12), 0u);
  }
}

// Chi-square of record `id / bucket` against position: uniform if the order is.
double OrderChiSquare(const OrderSpec& spec, uint64_t records, uint64_t cells, uint64_t epochs) {
  std::vector<double> seen(cells * cells);
  for (uint64_t epoch = 0; epoch < epochs; ++epoch) {
    Order order(spec, 11, epoch, records);
    for (uint64_t p = 0; p < records; ++p) {
      ++seen[p * cells / records * cells + order(p) * cells / records];
    }
  }
  const double expected =
      static_cast<double>(records * epochs) / static_cast<double>(cells * cells);
  double sum = 0;
  for (const double count : seen) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

TEST(GlobalOrder, PositionsAreUniform) {
  // (cells - 1)^2 = 225 degrees of freedom; limit: 5 standard deviations from the mean.
  const double chi = OrderChiSquare({OrderKind::kGlobal}, 4096, 16, 40);
  EXPECT_NEAR(chi, 225, 5 * std::sqrt(2 * 225.0));
}

TEST(GlobalOrder, NeighboursMeetAsOftenAsByChance) {
  // With n positions, the expected number of successors p, p + 1 with ids i, i + 1 is (n - 1) / n
  // per epoch.
  constexpr uint64_t kRecords = 1000;
  constexpr uint64_t kEpochs = 2000;
  uint64_t met = 0;
  for (uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
    Order order({OrderKind::kGlobal}, 5, epoch, kRecords);
    uint64_t last = order(0);
    for (uint64_t p = 1; p < kRecords; ++p) {
      const uint64_t id = order(p);
      met += id == last + 1;
      last = id;
    }
  }
  const double expected = kEpochs * 0.999;
  EXPECT_NEAR(static_cast<double>(met), expected, 5 * std::sqrt(expected));
}

TEST(Order, TextGoesThereAndBack) {
  for (const OrderSpec& spec :
       {OrderSpec{OrderKind::kAuto}, OrderSpec{OrderKind::kSequential},
        OrderSpec{OrderKind::kGlobal}, OrderSpec{OrderKind::kWindow}, Window(17, 32, 4)}) {
    EXPECT_EQ(ParseOrder(OrderText(spec)), spec) << OrderText(spec);
  }
  for (const char* wrong : {"", "windows", "window:", "window:0", "window:1:2:3:4", "shuffle"}) {
    EXPECT_THROW(ParseOrder(wrong), Error) << wrong;
  }
}

TEST(Order, AutoIsGlobalBelow64GiB) {
  EXPECT_EQ(ResolveOrder({}, 1000, uint64_t{63} << 30).kind, OrderKind::kGlobal);
  const OrderSpec large = ResolveOrder({}, 1'000'000, uint64_t{100} << 30);
  EXPECT_EQ(large.kind, OrderKind::kWindow);
  EXPECT_EQ(large.block_records, (1u << 20) / 107'374);
}

}  // namespace
}  // namespace recpack
