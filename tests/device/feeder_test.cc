// Feeder: gives the loader's batches on one device, several or none.
#include "recpack/device/feeder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <deque>
#include <thread>
#include <variant>

#include "recpack/base/error.h"
#include "recpack/loader/stats.h"
#include "tests/base/error_of.h"
#include "tests/base/other_threads.h"
#include "tests/device/feeding.h"

namespace recpack {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using Mode = FakeRuntime::Mode;

TEST(Feeder, OnTheHostGivesTheLoadersBatches) {
  const SmallSplit split(103);
  const Dataset dataset = Dataset::Open(split.folder());
  const auto expected = FromLoader(dataset, SmallOptions(), 24);
  for (const bool finish_here : {false, true}) {
    LoaderOptions options = SmallOptions();
    std::get<ImageField>(options.fields[0]).finish_on_device = finish_here;
    DeviceFeeder feeder(dataset, options, {.runtime = nullptr});
    EXPECT_THAT(feeder.reason(), HasSubstr("linked without"));
    EXPECT_EQ(feeder.steps_per_epoch(), 12U);
    std::vector<Seen> seen;
    for (int ends = 0; ends < 2;) {
      auto batch = feeder.Next();
      if (!batch) {
        ++ends;
        continue;
      }
      batch->OnStream(nullptr);
      EXPECT_EQ(batch->device(), -1);
      EXPECT_EQ(batch->step(), seen.size() % 12);
      seen.push_back({{}, batch->ids(), batch->mask(), batch->token()});
      for (size_t i = 0; i < batch->arrays().size(); ++i) {
        const auto* bytes = static_cast<const uint8_t*>(batch->Raw(i));
        seen.back().bytes.insert(seen.back().bytes.end(), bytes,
                                 bytes + batch->arrays()[i].sample_bytes * batch->size());
      }
    }
    EXPECT_EQ(seen, expected) << finish_here;
  }
}

// The loader's slabs are used in turn: batches dropped at the end of an epoch take their turn as
// well.
TEST(Feeder, WaitsForTheSlabOfABatchThatIsHeldLong) {
  const SmallSplit split(64);
  LoaderOptions options = SmallOptions();
  options.batch_size = 8;  // 8 batches per epoch: 2 are dropped
  options.prefetch = 1;
  DeviceFeeder feeder(Dataset::Open(split.folder()), options,
                      {.runtime = nullptr, .devices = {0, 1, 2}, .depth = 3});
  std::vector<DeviceBatch> first;
  for (size_t device = 0; device < 3; ++device) first.push_back(*feeder.Next(device));
  const std::jthread later([&, consumer = ::gettid()] {
    AwaitSleepOf(consumer);
    first.clear();
  });
  for (int step = 1; step < 6; ++step) {
    for (size_t device = 0; device < 3; ++device) {
      auto batch = feeder.Next(device);
      while (!batch) batch = feeder.Next(device);
      EXPECT_EQ(batch->step(), static_cast<uint64_t>(step % 2));
    }
  }
}

TEST(Feeder, AnAbortReachesAConsumerThatWaits) {
  const SmallSplit split(64);
  DeviceFeeder feeder(Dataset::Open(split.folder()), SmallOptions(),
                      {.runtime = nullptr, .devices = {0, 1}, .depth = 1});
  auto held = feeder.Next(0);
  feeder.Next(1);
  const std::jthread other([&, consumer = ::gettid()] {
    AwaitSleepOf(consumer);
    feeder.Abort("the other device failed");
    feeder.Abort("another reason");
  });
  for (int i = 0; i < 2; ++i) {  // waits for a step that needs room for device 0
    try {
      feeder.Next(1);
      FAIL() << "nothing ended the wait";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kDevice);
      EXPECT_STREQ(error.what(), "the other device failed");
    }
  }
}

struct FeederCase {
  Mode mode;
  std::vector<int> devices;
  uint32_t depth;
};

class FeederOnDevices : public testing::TestWithParam<FeederCase> {};

TEST_P(FeederOnDevices, GivesTheBitsOfTheHost) {
  const auto& [mode, devices, depth] = GetParam();
  const size_t n = devices.size();
  const SmallSplit split(103);
  const Dataset dataset = Dataset::Open(split.folder());
  for (const ElementType type : {ElementType::kF32, ElementType::kBf16}) {
    for (const ImageLayout layout : {ImageLayout::kNchw, ImageLayout::kNhwc}) {
      LoaderOptions options = SmallOptions();
      auto& image = std::get<ImageField>(options.fields[0]);
      image.type = type;
      image.layout = layout;
      image.mean = {0.4, 0.5, 0.6};
      const auto expected = FromLoader(dataset, options, 24);
      FakeRuntime fake(2, mode);
      {
        DeviceFeeder feeder(dataset, options,
                            {.runtime = &fake, .devices = devices, .depth = depth});
        EXPECT_EQ(feeder.reason(), "");
        Consumer consumer(feeder, fake, devices);
        for (size_t step = 0; step < 24 / n; ++step) {
          for (size_t i = 0; i < n; ++i) {
            while (!consumer.Take(i)) continue;
          }
        }
        auto seen = consumer.Seens();
        ASSERT_EQ(seen.size(), expected.size());
        for (size_t i = 0; i < seen.size(); ++i) {
          EXPECT_EQ(seen[i].bytes, expected[i].bytes) << "batch " << i;
          EXPECT_EQ(seen[i].ids, expected[i].ids);
          EXPECT_EQ(seen[i].token, expected[i / n * n + n - 1].token) << "of the whole step";
        }
      }
      EXPECT_THAT(fake.violations(), IsEmpty());
      EXPECT_EQ(fake.leaks(), "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, FeederOnDevices,
    testing::Values(FeederCase{Mode::kLazy, {0}, 3}, FeederCase{Mode::kLazy, {0, 1}, 3},
                    FeederCase{Mode::kLazy, {0}, 1}, FeederCase{Mode::kThreads, {0}, 2},
                    FeederCase{Mode::kThreads, {0, 1}, 3}, FeederCase{Mode::kLazy, {1, 1}, 2},
                    FeederCase{Mode::kLazy, {0, kHostConsumer}, 2},
                    FeederCase{Mode::kThreads, {kHostConsumer, 1, 1}, 3}));

TEST(Feeder, BringsBatchesAheadAndNeverWaitsForTheDeviceItself) {
  const SmallSplit split(103);
  FakeRuntime fake(1, Mode::kLazy);
  DeviceFeeder feeder(Dataset::Open(split.folder()), SmallOptions(), {.runtime = &fake});
  Consumer consumer(feeder, fake);
  auto first = feeder.Next();
  consumer.Read(*first, 0);  // is not done before Seens()
  const auto second = feeder.Next(), third = feeder.Next();
  EXPECT_TRUE(second && third);
  EXPECT_EQ(fake.calls("cudaMemcpyAsync"), 3);
  // Only the thread that releases slabs ever waits.
  EXPECT_EQ(fake.calls("cudaStreamSynchronize"), 0);
  AwaitRest();
  EXPECT_EQ(fake.calls("cudaEventSynchronize"), fake.waits(WaitPoint::kReleaseAfterCopy));
  first.reset();
  EXPECT_TRUE(feeder.Next()) << "its slot is used again while its reader is still to run";
  EXPECT_THAT(fake.violations(), IsEmpty());
}

TEST(Feeder, SeveralStreamsMayReadABatch) {
  const SmallSplit split(103);
  const Dataset dataset = Dataset::Open(split.folder());
  const auto expected = FromLoader(dataset, SmallOptions(), 12);
  FakeRuntime fake(1, Mode::kLazy);
  DeviceFeeder feeder(dataset, SmallOptions(), {.runtime = &fake, .depth = 2});
  Consumer one(feeder, fake), other(feeder, fake);
  for (int i = 0; i < 12; ++i) {
    auto batch = feeder.Next();
    one.Read(*batch, 0);
    other.Read(*batch, 0);
    one.Read(*batch, 0);
  }
  const auto seen = other.Seens();
  for (size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], expected[i]);
  EXPECT_EQ(one.Seens().size(), 24U);
  EXPECT_THAT(fake.violations(), IsEmpty());
}

// 103 samples in batches of 8: 12 whole ones or 13; on 2 devices 6 steps or 7, on 5 devices 2 or 3.
TEST(Feeder, AllDevicesMakeEquallyManySteps) {
  const SmallSplit split(103);
  const Dataset dataset = Dataset::Open(split.folder());
  for (const LastBatch rule : {LastBatch::kDrop, LastBatch::kPad, LastBatch::kKeep}) {
    for (const int devices : {2, 5}) {
      LoaderOptions options = SmallOptions();
      options.last_batch = rule;
      options.order.kind = OrderKind::kSequential;
      FakeRuntime fake(devices, Mode::kLazy);
      std::vector<int> all(static_cast<size_t>(devices));
      for (int i = 0; i < devices; ++i) all[static_cast<size_t>(i)] = i;
      DeviceFeeder feeder(dataset, options, {.runtime = &fake, .devices = all});
      Consumer consumer(feeder, fake);
      const uint64_t steps = rule == LastBatch::kDrop ? 12 / all.size() : 12 / all.size() + 1;
      EXPECT_EQ(feeder.steps_per_epoch(), steps);
      for (int epoch = 0; epoch < 2; ++epoch) {
        for (uint64_t step = 0; step <= steps; ++step) {
          for (size_t i = 0; i < all.size(); ++i) {
            ASSERT_EQ(consumer.Take(i), step < steps) << step << " of device " << i;
          }
        }
      }
      std::vector<uint64_t> unmasked;
      const auto seen = consumer.Seens();
      for (size_t i = 0; i < seen.size() / 2; ++i) {
        if (rule != LastBatch::kKeep) {
          EXPECT_EQ(seen[i].ids.size(), 8U);
        }
        for (size_t s = 0; s < seen[i].ids.size(); ++s) {
          if (seen[i].mask[s] != 0) unmasked.push_back(seen[i].ids[s]);
        }
      }
      const size_t whole = rule == LastBatch::kDrop ? steps * all.size() * 8 : 103;
      ASSERT_EQ(unmasked.size(), whole);
      for (size_t i = 0; i < whole; ++i) EXPECT_EQ(unmasked[i], i);
      EXPECT_THAT(fake.violations(), IsEmpty());
    }
  }
}

// Its consumers would only get ends of epochs.
TEST(Feeder, RefusesRaggedArraysWithOffsets) {
  const SmallSplit split(20);
  LoaderOptions options = SmallOptions();
  options.fields.push_back(
      NumbersField{.name = "words", .length = 4, .ragged = true, .offsets = true});
  const Error error =
      ErrorOf([&] { DeviceFeeder(Dataset::Open(split.folder()), options, {.runtime = nullptr}); });
  EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
  EXPECT_THAT(error.what(), HasSubstr("array 'words' is ragged with offsets"));
}

TEST(Feeder, RefusesEpochsWithoutAStep) {
  const SmallSplit split(20);  // two batches
  const Dataset dataset = Dataset::Open(split.folder());
  const DeviceFeederOptions three{.runtime = nullptr, .devices = {0, 1, 2}};
  try {
    DeviceFeeder(dataset, SmallOptions(), three);
    FAIL() << "two batches made a step of three";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    EXPECT_THAT(error.what(),
                HasSubstr("an epoch of 2 batches is less than a step of 3 consumers"));
  }
  for (const LastBatch rule : {LastBatch::kPad, LastBatch::kKeep}) {
    LoaderOptions options = SmallOptions();
    options.last_batch = rule;
    DeviceFeeder feeder(dataset, options, three);
    EXPECT_EQ(feeder.steps_per_epoch(), 1u);
    for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(feeder.Next(i));
  }
}

TEST(Feeder, ATokenGoesOnBehindTheStep) {
  const SmallSplit split(103);
  const Dataset dataset = Dataset::Open(split.folder());
  const auto expected = FromLoader(dataset, SmallOptions(), 12);
  FakeRuntime fake(2, Mode::kLazy);
  LoaderOptions options = SmallOptions();
  options.resume = expected[3].token;
  DeviceFeeder feeder(dataset, options, {.runtime = &fake, .devices = {0, 1}});
  Consumer consumer(feeder, fake);
  for (int step = 0; step < 4; ++step) {
    for (const size_t device : {0, 1}) EXPECT_TRUE(consumer.Take(device));
  }
  const auto seen = consumer.Seens();
  for (size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i].bytes, expected[i + 4].bytes);
}

// Batches being read by their consumer are held, but only the slabs of `prefetch` exist.
TEST(Feeder, TakesTheSlabsOfItsLoadersRingAlone) {
  const SmallSplit split(103);
  DeviceFeeder feeder(Dataset::Open(split.folder()), SmallOptions(),
                      {.runtime = nullptr, .depth = 6});
  std::deque<std::optional<DeviceBatch>> held;
  for (int i = 0; i < 30; ++i) {
    held.push_back(feeder.Next());
    if (held.size() > 5) held.pop_front();
  }
  const StatsReading reading = ReadStats(::getpid());
  ASSERT_EQ(reading.loaders.size(), 1u) << reading.unavailable;
  EXPECT_EQ(reading.loaders[0].slabs, feeder.loader_options().prefetch);
}

TEST(Feeder, TakesALoaderThatFinishesItself) {
  const SmallSplit split(103);
  const Dataset dataset = Dataset::Open(split.folder());
  const auto expected = FromLoader(dataset, SmallOptions(), 6);
  FakeRuntime fake(1, Mode::kThreads);
  {
    PinnedSlabs slabs(fake, {0});
    LoaderOptions options = SmallOptions();
    options.slabs = &slabs;
    DeviceFeeder feeder(std::make_unique<Loader>(dataset, options), {.runtime = &fake});
    Consumer consumer(feeder, fake);
    for (int i = 0; i < 6; ++i) consumer.Take(0);
    EXPECT_EQ(consumer.Seens(), expected);
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(feeder.Next()) << "nothing reads it";
  }
  EXPECT_EQ(fake.calls("finish"), 0);
  EXPECT_THAT(fake.violations(), IsEmpty());
  EXPECT_EQ(fake.leaks(), "");
}

TEST(Feeder, WithoutADeviceItSaysWhyAndStaysOnTheHost) {
  const SmallSplit split(20);
  const Dataset dataset = Dataset::Open(split.folder());
  FakeRuntime none(0, Mode::kLazy);
  DeviceFeeder feeder(dataset, SmallOptions(), {.runtime = &none});
  EXPECT_EQ(feeder.reason(), "no fake device");
  EXPECT_EQ(feeder.Next()->device(), -1);
  EXPECT_EQ(none.calls("cudaMalloc"), 0);
  try {
    DeviceFeeder(dataset, SmallOptions(), {.runtime = &none, .devices = {2}});
    FAIL() << "a device that is not there was opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kDevice);
    EXPECT_THAT(error.what(), HasSubstr("there is no device 2: no fake device"));
  }
}

}  // namespace
}  // namespace recpack
