#include "recpack/loader/function_field.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "recpack/base/error.h"
#include "recpack/loader/loader.h"
#include "tests/base/error_of.h"
#include "tests/loader/small_split.h"

namespace recpack {
namespace {

using testing::HasSubstr;

// Writes the label twice, and a random number.
FunctionField Doubled(uint32_t stream = 0) {
  return {.arrays = {{.name = "twice", .type = ElementType::kI64, .shape = {2}},
                     {.name = "draw", .type = ElementType::kF32}},
          .call =
              [](SampleView& sample) {
                const int64_t label = sample.example.Find("label")->int64_values()[0];
                const int64_t twice[] = {label, 2 * label};
                std::memcpy(sample.out[0], twice, sizeof twice);
                const float draw = sample.random.NextUnit();
                std::memcpy(sample.out[1], &draw, sizeof draw);
              },
          .stream = stream};
}

LoaderOptions FunctionOptions(FunctionField field, int threads = 2) {
  LoaderOptions options{.fields = SmallFields(), .batch_size = 10, .seed = 5};
  options.fields.push_back(std::move(field));
  options.threads = threads;
  return options;
}

TEST(FunctionField, FillsItsArraysTheSameOnAnyThread) {
  const SmallSplit split(101);
  const Dataset dataset = Dataset::Open(split.folder());
  Loader one(dataset, FunctionOptions(Doubled(), 1));
  const auto expected = Take(one, 12);
  for (int threads = 2; threads <= 4; ++threads) {
    Loader loader(dataset, FunctionOptions(Doubled(), threads));
    EXPECT_EQ(Take(loader, 12), expected);
  }
  Loader other(dataset, FunctionOptions(Doubled(1)));
  EXPECT_NE(Take(other, 12), expected) << "another stream draws other numbers";

  Loader loader(dataset, FunctionOptions(Doubled()));
  const auto batch = loader.Next();
  float least = 1, most = 0;
  for (uint32_t i = 0; i < 10; ++i) {
    const auto id = static_cast<int64_t>(batch->ids()[i]);
    EXPECT_EQ(batch->Data<int64_t>("twice")[2 * i], id);
    EXPECT_EQ(batch->Data<int64_t>("twice")[2 * i + 1], 2 * id);
    least = std::min(least, batch->Data<float>("draw")[i]);
    most = std::max(most, batch->Data<float>("draw")[i]);
  }
  EXPECT_GT(most - least, 0.3F);
}

// The time of a slow function is separated from the loader's own work.
TEST(FunctionField, ItsTimeIsAStageOfItsOwn) {
  const SmallSplit split(101);
  FunctionField slow = Doubled();
  slow.call = [](SampleView&) { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
  LoaderOptions options = FunctionOptions(slow, 1);
  options.batch_steps = {BatchFunction{.arrays = {}, .call = [](BatchView&) {
                                         std::this_thread::sleep_for(std::chrono::milliseconds(5));
                                       }}};
  Loader loader(Dataset::Open(split.folder()), options);
  Take(loader, 3);
  const LoaderStats stats = loader.stats();
  EXPECT_GE(stats.Total(Stage::kFunction).count, 30u);
  EXPECT_GE(stats.Total(Stage::kFunction).time, std::chrono::milliseconds(3 * 10 * 2));
  EXPECT_GE(stats.Total(Stage::kBatch).count, 3u);
  EXPECT_GE(stats.Total(Stage::kBatch).time, std::chrono::milliseconds(3 * 5));
}

// The image equals another field's of the same view, in u8 and interleaved.
TEST(FunctionField, IsGivenThePictureThatItAsksFor) {
  const SmallSplit split(60);
  ImageField plain = std::get<ImageField>(SmallFields()[0]);
  FunctionField copy{.arrays = {{.name = "given", .shape = {8, 8, 3}},
                                {.name = "epoch", .type = ElementType::kU64}},
                     .call =
                         [](SampleView& sample) {
                           const PixelView& picture = sample.picture;
                           ASSERT_EQ(picture.stride, picture.row_bytes());
                           std::memcpy(sample.out[0], picture.pixels,
                                       picture.row_bytes() * static_cast<size_t>(picture.height));
                           std::memcpy(sample.out[1], &sample.epoch, sizeof sample.epoch);
                         },
                     .picture = plain};
  LoaderOptions options = FunctionOptions(copy);
  plain.name = "plain";
  plain.type = ElementType::kU8;
  plain.layout = ImageLayout::kNhwc;
  options.fields.emplace_back(plain);
  Loader loader(Dataset::Open(split.folder()), options);
  for (uint64_t i = 0; i < 14; ++i) {
    const auto batch = loader.Next();
    if (!batch) continue;
    EXPECT_EQ(batch->Data<uint64_t>("epoch")[0], i / 7);
    EXPECT_EQ(0, std::memcmp(batch->Raw("given"), batch->Raw("plain"), size_t{10} * 192));
  }
}

// Lets bindings find the exception of their own language.
TEST(FunctionField, WhatItThrowsIsTheInnermostException) {
  const SmallSplit split(60);
  const auto innermost = [](const std::exception& error, auto& self) -> std::string {
    try {
      std::rethrow_if_nested(error);
    } catch (const std::exception& inner) {
      return self(inner, self);
    }
    return error.what();
  };
  const auto thrown = [&](const LoaderOptions& options) {
    Loader loader(Dataset::Open(split.folder()), options);
    try {
      loader.Next();
    } catch (const Error& error) {
      return innermost(error, innermost);
    }
    return std::string();
  };
  EXPECT_EQ(
      thrown(FunctionOptions({.arrays = {{.name = "x"}},
                              .call = [](SampleView&) { throw std::out_of_range("a word"); }})),
      "a word");
  EXPECT_EQ(
      thrown(FunctionOptions({.arrays = {{.name = "x"}},
                              .call = [](SampleView&) { throw Error(ErrorKind::kIo, "a disk"); }})),
      "a disk");
  LoaderOptions batches = FunctionOptions(Doubled());
  batches.batch_steps = {BatchFunction{.arrays = {}, .call = [](BatchView& batch) {
                                         if (batch.memory) throw std::out_of_range("a batch");
                                       }}};
  EXPECT_EQ(thrown(batches), "a batch");
}

TEST(FunctionField, WhatItThrowsComesWithTheRecordsPlace) {
  const SmallSplit split(60);
  const auto thrown = [&](auto call) {
    LoaderOptions options =
        FunctionOptions({.arrays = {{.name = "x"}}, .call = [call](SampleView& sample) {
                           if (sample.id == 25) call();
                         }});
    options.order = ParseOrder("sequential");
    Loader loader(Dataset::Open(split.folder()), options);
    EXPECT_TRUE(loader.Next());
    EXPECT_TRUE(loader.Next());
    const Error error = ErrorOf([&] { loader.Next(); });
    EXPECT_EQ(error.place().path, split.shard(1));
    EXPECT_EQ(error.place().ordinal, 5u);
    return error;
  };
  EXPECT_THAT(thrown([] { throw std::out_of_range("no such word"); }).what(),
              HasSubstr("no such word"));
  EXPECT_EQ(thrown([] { throw Error(ErrorKind::kCorrupt, "odd"); }).kind(), ErrorKind::kCorrupt);
  EXPECT_THAT(thrown([] { throw 42; }).what(), HasSubstr("not a std::exception"));
}

TEST(FunctionField, WhatItCallsCorruptIsSubstituted) {
  const SmallSplit split(60);
  LoaderOptions options =
      FunctionOptions({.arrays = {{.name = "x"}}, .call = [](SampleView& sample) {
                         if (sample.id == 25) throw Error(ErrorKind::kCorrupt, "odd");
                       }});
  options.on_bad_record = OnBadRecord::kSubstitute;
  options.max_bad_share = 0.05;
  Loader loader(Dataset::Open(split.folder()), options);
  Take(loader, 6);
  ASSERT_EQ(loader.substitutions().size(), 1u);
  EXPECT_EQ(loader.substitutions()[0].bad, 25u);
}

TEST(FunctionField, SaysWhatItDoesNotTake) {
  const SmallSplit split(60);
  const auto reason = [&](FunctionField field) {
    return std::string(ErrorOf([&] {
                         Loader(Dataset::Open(split.folder()), FunctionOptions(std::move(field)));
                       }).what());
  };
  const auto nothing = [](SampleView&) {};
  EXPECT_THAT(reason({.call = nothing}), HasSubstr("no arrays"));
  EXPECT_THAT(reason({.arrays = {{.name = "x"}}}), HasSubstr("no function"));
  EXPECT_THAT(reason({.arrays = {{.name = ""}}, .call = nothing}), HasSubstr("array ''"));
  EXPECT_THAT(reason({.arrays = {{.name = "x", .shape = {0}}}, .call = nothing}),
              HasSubstr("0 bytes"));
  EXPECT_THAT(reason({.arrays = {{.name = "image"}}, .call = nothing}), HasSubstr("two arrays"));
  EXPECT_THAT(reason(Doubled(65536)), HasSubstr("no stream 65536"));
}

}  // namespace
}  // namespace recpack
