#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "recpack/base/error.h"
#include "recpack/kernels/finish.h"
#include "recpack/kernels/mix.h"

namespace recpack {
namespace {

using testing::HasSubstr;

FinishOptions Valid() {
  return {.in_height = 4, .in_width = 5, .channels = 3, .out_height = 2, .out_width = 3};
}

std::string RefusalOf(const std::function<void(FinishOptions&)>& change) {
  FinishOptions options = Valid();
  change(options);
  try {
    const Finisher finisher(options);
    return "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    return error.what();
  }
}

TEST(FinishOptions, ValidOnesAreAccepted) {
  EXPECT_EQ(RefusalOf([](FinishOptions&) {}), "accepted");
  EXPECT_EQ(RefusalOf([](FinishOptions& o) { o.in_width = 65536; }), "accepted");
}

TEST(FinishOptions, SizesOutOfRangeAreNamed) {
  EXPECT_THAT(RefusalOf([](FinishOptions& o) { o.in_height = 0; }), HasSubstr("in_height is 0"));
  EXPECT_THAT(RefusalOf([](FinishOptions& o) { o.in_width = -1; }), HasSubstr("in_width is -1"));
  EXPECT_THAT(RefusalOf([](FinishOptions& o) { o.out_height = 65537; }),
              HasSubstr("out_height is 65537"));
  EXPECT_THAT(RefusalOf([](FinishOptions& o) { o.out_width = 0; }), HasSubstr("out_width is 0"));
  EXPECT_THAT(RefusalOf([](FinishOptions& o) { o.channels = 0; }), HasSubstr("channels is 0"));
  EXPECT_THAT(RefusalOf([](FinishOptions& o) { o.channels = 5; }), HasSubstr("channels is 5"));
}

TEST(FinishOptions, FactorsMustGiveFiniteValues) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  EXPECT_THAT(RefusalOf([](FinishOptions& o) { o.scale[2] = kInf; }), HasSubstr("of channel 2"));
  EXPECT_THAT(RefusalOf([](FinishOptions& o) { o.bias[1] = std::nanf(""); }),
              HasSubstr("of channel 1"));
  EXPECT_THAT(RefusalOf([](FinishOptions& o) { o.scale[0] = 3e37F; }), HasSubstr("not finite"));
  EXPECT_EQ(RefusalOf([](FinishOptions& o) { o.scale[3] = kInf; }), "accepted") << "of 3 channels";
  EXPECT_EQ(RefusalOf([](FinishOptions& o) {
              o.type = ElementType::kU8;
              o.scale[0] = kInf;
            }),
            "accepted")
      << "u8 takes no factors";
}

TEST(FinishOptions, OutBytesOfEveryType) {
  FinishOptions o = Valid();
  for (const auto& [type, bytes] :
       std::vector<std::pair<ElementType, size_t>>{{ElementType::kU8, 18},
                                                   {ElementType::kF16, 36},
                                                   {ElementType::kBf16, 36},
                                                   {ElementType::kF32, 72}}) {
    o.type = type;
    EXPECT_EQ(Finisher(o).out_bytes(), bytes);
    EXPECT_EQ(ElementBytes(type) * 18, bytes);
  }
}

TEST(FinishOptions, RefusesTypesThatPixelsDoNotHave) {
  for (const auto type : {ElementType::kI32, ElementType::kI64, ElementType::kU64}) {
    FinishOptions o = Valid();
    o.type = type;
    EXPECT_THROW(CheckFinish(o), Error) << ElementName(type);
    uint64_t one = 0;
    EXPECT_THROW(MixInto(type, 0.5, &one, &one, 1), Error) << ElementName(type);
  }
}

TEST(FinishOptions, MeanStdRoundsOnce) {
  const double mean[] = {0.485, 0.456, 0.406}, std[] = {0.229, 0.224, 0.225};
  const FinishOptions o = MeanStd(Valid(), mean, std);
  for (size_t c = 0; c < 3; ++c) {
    EXPECT_EQ(o.scale[c], static_cast<float>(1 / (255 * std[c])));
    EXPECT_EQ(o.bias[c], static_cast<float>(-mean[c] / std[c]));
  }
  EXPECT_EQ(o.scale[3], 1);
  EXPECT_EQ(o.bias[3], 0);
}

TEST(FinishOptions, MeanStdRefusesWhatDividesByNothing) {
  const double mean[] = {0, 0, 0}, zero[] = {1, 0, 1}, nan[] = {1, 1, std::nan("")};
  EXPECT_THROW(MeanStd(Valid(), mean, zero), Error);
  EXPECT_THROW(MeanStd(Valid(), mean, nan), Error);
  FinishOptions no_channels = Valid();
  no_channels.channels = 0;
  EXPECT_THROW(MeanStd(no_channels, mean, mean), Error);
}

}  // namespace
}  // namespace recpack
