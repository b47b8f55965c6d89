// Tests the estimate of what is under way on a link.
#include "src/remote/http/link_meter.h"

#include <gtest/gtest.h>

namespace recpack::remote {
namespace {

using std::chrono::milliseconds;

// Bytes that arrive evenly for some time: `rate` per millisecond.
LinkMeter::Clock::time_point Receive(LinkMeter& meter, LinkMeter::Clock::time_point at,
                                     milliseconds time, size_t rate) {
  for (auto left = time; left > milliseconds(0); left -= milliseconds(1)) {
    at += milliseconds(1);
    meter.AddBytes(rate, at);
  }
  return at;
}

class LinkMeterTest : public testing::Test {
 protected:
  LinkMeter meter_;
  LinkMeter::Clock::time_point at_ = LinkMeter::Clock::now();
};

TEST_F(LinkMeterTest, IsRateTimesDelay) {
  EXPECT_EQ(meter_.BytesUnderWay(), 0u);
  meter_.AddFirstByte(milliseconds(100));
  at_ = Receive(meter_, at_, milliseconds(200), 1000);
  EXPECT_NEAR(static_cast<double>(meter_.BytesUnderWay()), 100e3, 3e3);
}

TEST_F(LinkMeterTest, ForgetsAFastMomentSlowly) {
  meter_.AddFirstByte(milliseconds(100));
  at_ = Receive(meter_, at_, milliseconds(200), 1000);
  at_ = Receive(meter_, at_, milliseconds(100), 10);
  EXPECT_GT(meter_.BytesUnderWay(), 80'000u);
  at_ = Receive(meter_, at_, milliseconds(10'000), 10);
  EXPECT_LT(meter_.BytesUnderWay(), 2000u);
}

TEST_F(LinkMeterTest, FollowsTheDelayButNotAStall) {
  for (int i = 0; i < 100; ++i) meter_.AddFirstByte(milliseconds(10));
  meter_.AddFirstByte(milliseconds(60'000));
  at_ = Receive(meter_, at_, milliseconds(100), 1000);
  EXPECT_LT(meter_.BytesUnderWay(), 100'000u);  // a second counts, with little weight
  for (int i = 0; i < 1000; ++i) meter_.AddFirstByte(milliseconds(50));
  at_ = Receive(meter_, at_, milliseconds(100), 1000);
  EXPECT_NEAR(static_cast<double>(meter_.BytesUnderWay()), 50e3, 5e3);
}

TEST_F(LinkMeterTest, WaitsBehindOtherRequestsCountLittle) {
  for (int i = 0; i < 1000; ++i) meter_.AddFirstByte(milliseconds(i % 8 == 0 ? 10 : 100));
  at_ = Receive(meter_, at_, milliseconds(100), 1000);
  EXPECT_LT(meter_.BytesUnderWay(), 40'000u);  // of a mean of 89,000
}

}  // namespace
}  // namespace recpack::remote
