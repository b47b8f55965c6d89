#include "recpack/loader/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>

#include "recpack/base/error.h"
#include "recpack/base/hash.h"
#include "recpack/base/random.h"
#include "recpack/loader/token.h"
#include "tests/base/error_of.h"
#include "tests/loader/small_split.h"

namespace recpack {
namespace {

using testing::HasSubstr;

LoaderOptions BatchOptions(uint32_t batch, int threads = 2) {
  return {.fields = SmallFields(), .batch_size = batch, .seed = 17, .threads = threads};
}

TEST(Loader, BatchesDoNotDependOnThreadsOrPrefetching) {
  const SmallSplit split(203);
  const Dataset dataset = Dataset::Open(split.folder());
  for (const char* order : {"sequential", "global", "window:4:8:2"}) {
    LoaderOptions options = BatchOptions(10, 1);
    options.order = ParseOrder(order);
    Loader first(dataset, options);
    const auto expected = Take(first, 45);  // more than two epochs
    for (int threads = 2; threads <= 8; threads += 3) {
      for (uint32_t prefetch : {2u, 3u, 9u}) {
        options.threads = threads;
        options.prefetch = prefetch;
        Loader loader(dataset, options);
        EXPECT_EQ(Take(loader, 45), expected) << order << " " << threads << " " << prefetch;
      }
    }
  }
}

TEST(Loader, BackendsGiveTheSame) {
  const SmallSplit split(100);
  const Dataset dataset = Dataset::Open(split.folder());
  Loader first(dataset, BatchOptions(10));
  const auto expected = Take(first, 12);
  for (auto backend :
       {RandomAccessOptions::Backend::kMapped, RandomAccessOptions::Backend::kIoUring}) {
    LoaderOptions options = BatchOptions(10);
    options.source.backend = backend;
    Loader loader(dataset, options);
    EXPECT_EQ(Take(loader, 12), expected) << BackendName(backend);
  }
}

TEST(Loader, ResumesAtEveryBatchBitForBit) {
  const SmallSplit split(57);
  const Dataset dataset = Dataset::Open(split.folder());
  for (const LastBatch last : {LastBatch::kDrop, LastBatch::kPad, LastBatch::kKeep}) {
    LoaderOptions options = BatchOptions(10);
    options.last_batch = last;
    Loader whole(dataset, options);
    const auto expected = Take(whole, 14);
    for (size_t cut = 0; cut < 12; ++cut) {
      LoaderOptions later = options;
      later.seed = 0;  // the token's seed applies
      later.resume = expected[cut].token;
      Loader loader(dataset, later);
      const auto rest = Take(loader, 2);
      EXPECT_EQ(rest[0], expected[cut + 1]) << static_cast<int>(last) << " " << cut;
      EXPECT_EQ(rest[1], expected[cut + 2]) << static_cast<int>(last) << " " << cut;
    }
  }
}

uint64_t SamplesRead(const Loader& loader) {
  uint64_t samples = 0;
  for (const WorkerStats& worker : loader.stats().workers) {
    samples += worker.stages[static_cast<size_t>(Stage::kRead)].count;
  }
  return samples;
}

TEST(Loader, EndsAfterItsEpochsAndReadsNothingMore) {
  const SmallSplit split(57);
  const Dataset dataset = Dataset::Open(split.folder());
  for (const LastBatch last : {LastBatch::kDrop, LastBatch::kPad, LastBatch::kKeep}) {
    LoaderOptions options = BatchOptions(10);
    options.last_batch = last;
    Loader endless(dataset, options);
    const auto expected = Take(endless, 14);
    options.epochs = 2;
    const size_t all = 2 * endless.steps_per_epoch();
    for (const size_t begin : {size_t{0}, size_t{3}, size_t{8}, all}) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(last) << ", from " << begin);
      if (begin > 0) options.resume = expected[begin - 1].token;
      Loader loader(dataset, options);
      EXPECT_EQ(Take(loader, all - begin),
                std::vector(expected.begin() + static_cast<ptrdiff_t>(begin),
                            expected.begin() + static_cast<ptrdiff_t>(all)));
      EXPECT_FALSE(loader.Next());  // the end of the last epoch
      for (int again = 0; again < 2; ++again) {
        const Error error = ErrorOf([&] { loader.Next(); });
        EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
        EXPECT_THAT(error.reason(), HasSubstr("all 2 epochs of the loader are over"));
      }
      if (begin == 0 && last == LastBatch::kKeep) {
        EXPECT_EQ(SamplesRead(loader), 2 * 57u);
      }
    }
    options.resume = {};
    options.epoch = 2;
    Loader none(dataset, options);
    EXPECT_EQ(ErrorOf([&] { none.Next(); }).kind(), ErrorKind::kInvalidArgument);
    EXPECT_EQ(SamplesRead(none), 0u);
  }
}

TEST(Loader, TheUnionOfRanksIsTheEpoch) {
  const SmallSplit split(101);
  const Dataset dataset = Dataset::Open(split.folder());
  for (const LastBatch last : {LastBatch::kPad, LastBatch::kKeep}) {
    LoaderOptions options = BatchOptions(7);
    options.last_batch = last;
    const auto alone = TakeRanks(dataset, options, 1, 15);
    EXPECT_EQ(std::set(alone.begin(), alone.end()).size(), 101u);
    EXPECT_EQ(alone.size(), 101u);
    for (uint32_t world = 2; world <= 4; ++world) {
      const size_t steps = (101 + 7 * world - 1) / (7 * world);
      EXPECT_EQ(TakeRanks(dataset, options, world, steps), alone) << world;
    }
  }
}

// The batches of a single-rank loader are dealt to loaders that each serve some of the ranks.
TEST(Loader, RanksThatShareBatchesGetThoseOfOneRankInTurn) {
  const SmallSplit split(103);
  const Dataset dataset = Dataset::Open(split.folder());
  constexpr uint32_t kWorld = 4;
  for (const auto& [last, steps] :
       {std::pair(LastBatch::kDrop, 2U), {LastBatch::kPad, 3U}, {LastBatch::kKeep, 3U}}) {
    LoaderOptions options = BatchOptions(10);
    options.last_batch = last;
    Loader alone(dataset, options);
    ASSERT_EQ(alone.steps_per_epoch(), last == LastBatch::kDrop ? 10U : 11U);
    const auto expected = Take(alone, 2 * alone.steps_per_epoch());
    const size_t of_epoch = alone.steps_per_epoch();
    options.share = RankShare::kBatches;
    options.world_size = kWorld;
    for (const auto& [first, count] : {std::pair(0U, 1U), {1U, 2U}, {3U, 1U}, {0U, 4U}}) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(last) << ", ranks from " << first);
      options.rank = first;
      options.local_ranks = count;
      Loader loader(dataset, options);
      ASSERT_EQ(loader.steps_per_epoch(), steps * count);
      const auto got = Take(loader, 2 * loader.steps_per_epoch());
      ASSERT_EQ(got.size(), 2 * steps * count);
      for (size_t i = 0; i < got.size(); ++i) {
        const size_t epoch = i / (steps * count), step = i / count % steps;
        const size_t number = step * kWorld + first + i % count;
        EXPECT_EQ(got[i].epoch, epoch);
        if (number >= of_epoch) {
          EXPECT_TRUE(got[i].ids.empty()) << i;
          continue;
        }
        const Taken& that = expected[epoch * of_epoch + number];
        EXPECT_EQ(got[i].ids, that.ids) << i;
        EXPECT_EQ(got[i].bytes, that.bytes) << i;
        const size_t behind = epoch * of_epoch + (step + 1) * kWorld - 1;  // the step's last batch
        if (i % count + 1 == count && step + 1 < steps) {
          EXPECT_EQ(got[i].token, expected[behind].token) << i;
        }
      }
    }
  }
}

TEST(Loader, OtherRanksAndBatchSizesGoOnInTheSameOrder) {
  const SmallSplit split(120);
  const Dataset dataset = Dataset::Open(split.folder());
  LoaderOptions options = BatchOptions(4);
  options.last_batch = LastBatch::kKeep;
  const auto whole = TakeRanks(dataset, options, 1, 30);
  std::string token;
  auto ids = TakeRanks(dataset, options, 4, 3, &token);
  options.resume = token;
  options.batch_size = 5;
  const auto rest = TakeRanks(dataset, options, 3, 5);
  ids.insert(ids.end(), rest.begin(), rest.end());
  EXPECT_EQ(ids, whole);
}

TEST(Loader, PadsWithMarkedSamplesAndKeepsEqualSteps) {
  const SmallSplit split(10);
  const Dataset dataset = Dataset::Open(split.folder());
  for (uint32_t rank = 0; rank < 3; ++rank) {
    LoaderOptions options = BatchOptions(2);
    options.world_size = 3;
    options.rank = rank;
    options.last_batch = LastBatch::kPad;
    Loader padded(dataset, options);
    EXPECT_EQ(padded.steps_per_epoch(), 2u);
    padded.Next();
    const auto last = padded.Next();
    ASSERT_TRUE(last);
    EXPECT_EQ(last->size(), 2u);
    EXPECT_EQ(last->mask()[0], 1) << rank;                  // positions 6, 7, 8
    EXPECT_EQ(last->mask()[1], rank == 0 ? 1 : 0) << rank;  // 9, 10, 11
    EXPECT_FALSE(padded.Next());

    options.last_batch = LastBatch::kKeep;
    Loader kept(dataset, options);
    kept.Next();
    EXPECT_EQ(kept.Next()->size(), rank == 0 ? 2u : 1u);
    EXPECT_FALSE(kept.Next());
  }
}

TEST(Loader, ArraysHoldTheRecords) {
  const SmallSplit split(20);
  const Dataset dataset = Dataset::Open(split.folder());
  ImageField image;
  image.raw_shape = {3, 8, 8};
  image.height = image.width = 8;
  image.type = ElementType::kU8;
  LoaderOptions options = BatchOptions(20);
  options.fields = {image, NumbersField{.name = "label", .type = ElementType::kI32},
                    NumbersField{.name = "words", .length = 4, .ragged = true, .padding = -1},
                    BytesField{.name = "text", .shape = {6}, .ragged = true}, IdField{}};
  Loader loader(dataset, options);
  const auto batch = loader.Next();
  ASSERT_TRUE(batch);
  for (uint32_t i = 0; i < 20; ++i) {
    const uint64_t id = batch->ids()[i];
    EXPECT_EQ(batch->Data<int64_t>("id")[i], static_cast<int64_t>(id));
    EXPECT_EQ(batch->Data<int32_t>("label")[i], static_cast<int32_t>(id));
    const uint8_t* pixels = batch->Data<uint8_t>("image") + i * 192;
    for (size_t p = 0; p < 192; ++p) ASSERT_EQ(pixels[p], static_cast<uint8_t>(id * 31 + p * 7));
    EXPECT_EQ(batch->Data<int32_t>("words_length")[i], static_cast<int32_t>(id % 5));
    for (uint32_t w = 0; w < 4; ++w) {
      EXPECT_EQ(batch->Data<int64_t>("words")[i * 4 + w],
                w < id % 5 ? static_cast<int64_t>(id) : -1);
    }
    EXPECT_EQ(batch->Data<int32_t>("text_length")[i], static_cast<int32_t>(id % 7));
  }
  EXPECT_THROW(batch->Raw("images"), Error);
}

TEST(Loader, ABadRecordFailsWithItsPlaceAndTheLowestPositionFirst) {
  const SmallSplit split(60);
  split.Damage(25);
  split.Damage(41);
  const Dataset dataset = Dataset::Open(split.folder());
  for (int threads = 1; threads <= 4; ++threads) {
    LoaderOptions options = BatchOptions(20, threads);
    options.order = ParseOrder("sequential");
    Loader loader(dataset, options);
    EXPECT_TRUE(loader.Next());
    const Error error = ErrorOf([&] { loader.Next(); });
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
    EXPECT_EQ(error.place().path, split.shard(1));
    EXPECT_EQ(error.place().ordinal, 5u);
    EXPECT_THROW(loader.Next(), Error) << "the loader is at its end";
  }
}

TEST(Loader, SubstitutesBadRecordsTheSameWayEveryTime) {
  const SmallSplit split(60);
  split.Damage(25);
  split.Damage(41);
  const Dataset dataset = Dataset::Open(split.folder());
  LoaderOptions options = BatchOptions(20, 1);
  options.on_bad_record = OnBadRecord::kSubstitute;
  options.max_bad_share = 0.05;
  Loader first(dataset, options);
  const auto expected = Take(first, 6);
  ASSERT_EQ(first.substitutions().size(), 4u);  // two per epoch
  for (const Substitution& each : first.substitutions()) {
    EXPECT_TRUE(each.bad == 25 || each.bad == 41);
    EXPECT_NE(each.taken, each.bad);
    EXPECT_THAT(each.reason, HasSubstr("CRC"));
  }
  EXPECT_LT(first.substitutions()[0].position, first.substitutions()[1].position);
  options.threads = 5;
  Loader second(dataset, options);
  EXPECT_EQ(Take(second, 6), expected);

  options.max_bad_share = 0.02;  // one record
  Loader strict(dataset, options);
  const Error error = ErrorOf([&] { Take(strict, 3); });
  EXPECT_THAT(error.what(), HasSubstr("2 bad records in epoch 0"));
}

TEST(Loader, ATokenKnowsItsDataSet) {
  const SmallSplit split(60);
  Loader loader(Dataset::Open(split.folder()), BatchOptions(20));
  loader.Next();
  LoaderOptions options = BatchOptions(20);
  options.resume = loader.Token();
  std::filesystem::copy_file(split.shard(0), split.shard(2),
                             std::filesystem::copy_options::overwrite_existing);
  const SmallSplit other(90);
  EXPECT_THAT(ErrorOf([&] { Loader(Dataset::Open(other.folder()), options); }).what(),
              HasSubstr("another data set"));
}

TEST(Loader, SaysWhatItDoesNotDo) {
  const SmallSplit split(30);
  const Dataset dataset = Dataset::Open(split.folder());
  const auto reason = [&](auto change) {
    LoaderOptions options = BatchOptions(10);
    change(options);
    return std::string(ErrorOf([&] { Loader(dataset, options); }).what());
  };
  EXPECT_THAT(reason([](auto& o) { o.batch_size = 0; }), HasSubstr("batch size"));
  EXPECT_THAT(reason([](auto& o) { o.batch_size = 31; }), HasSubstr("31 samples"));
  EXPECT_THAT(reason([](auto& o) { o.rank = 1; }), HasSubstr("no rank 1 of 1"));
  EXPECT_THAT(reason([](auto& o) { o.local_ranks = 2; }), HasSubstr("exceed the world size 1"));
  EXPECT_THAT(reason([](auto& o) { o.local_ranks = o.world_size = 2; }),
              HasSubstr("whole batches"));
  EXPECT_THAT(reason([](auto& o) { o.prefetch = 1; }), HasSubstr("prefetch is below 2"));
  EXPECT_THAT(reason([](auto& o) { o.max_live_batches = 1; }), HasSubstr("2 or more, or 0"));
  EXPECT_THAT(reason([](auto& o) { o.fields.clear(); }), HasSubstr("the loader has no fields"));
  EXPECT_THAT(reason([](auto& o) { o.fields.push_back(o.fields[1]); }), HasSubstr("'label'"));
  EXPECT_THAT(reason([](auto& o) { o.resume = "x"; }), HasSubstr("invalid token"));
  LoaderOptions missing = BatchOptions(10);
  missing.fields = {NumbersField{.name = "labels"}};
  Loader loader(dataset, missing);
  const Error error = ErrorOf([&] { loader.Next(); });
  EXPECT_THAT(error.what(), HasSubstr("no feature 'labels'"));
  EXPECT_THAT(error.what(), HasSubstr("image, label, text, words"));
  EXPECT_THAT(error.what(), HasSubstr("record"));
}

TEST(Loader, RefusesNumbersThatAFieldCannotHave) {
  const SmallSplit split(30);
  const Dataset dataset = Dataset::Open(split.folder());
  const auto reason = [&](const Field& field) {
    LoaderOptions options = BatchOptions(10);
    options.fields = {field};
    return std::string(ErrorOf([&] { Loader(dataset, options); }).what());
  };
  const auto words = [](ElementType type, double padding) {
    return NumbersField{
        .name = "words", .type = type, .length = 4, .ragged = true, .padding = padding};
  };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(reason(words(ElementType::kI64, 0.5)),
              HasSubstr("padded with 0.5, which does not fit i64"));
  EXPECT_THAT(reason(words(ElementType::kI64, kNan)), HasSubstr("which does not fit i64"));
  EXPECT_THAT(reason(words(ElementType::kI64, 0x1p63)), HasSubstr("which does not fit i64"));
  EXPECT_THAT(reason(words(ElementType::kI32, 0x1p31)), HasSubstr("which does not fit i32"));
  EXPECT_THAT(reason(words(ElementType::kF32, 1e300)), HasSubstr("which does not fit f32"));
  LoaderOptions least = BatchOptions(10);
  least.fields = {words(ElementType::kI32, -0x1p31)};
  EXPECT_NO_THROW(Loader(dataset, least));

  auto picture = std::get<ImageField>(SmallFields()[0]);
  picture.mean[1] = kNan;
  EXPECT_THAT(reason(picture), HasSubstr("a mean is nan"));
  picture = std::get<ImageField>(SmallFields()[0]);
  picture.pad = 1 << 30;
  EXPECT_THAT(reason(picture), HasSubstr("padded by 1073741824 pixels"));
}

TEST(Loader, BatchesOutliveIt) {
  const SmallSplit split(60);
  std::optional<Batch> batch;
  {
    Loader loader(Dataset::Open(split.folder()), BatchOptions(5));
    batch = loader.Next();
  }
  EXPECT_EQ(batch->Data<int64_t>("label")[0], static_cast<int64_t>(batch->ids()[0]));
}

TEST(Loader, CanBeDestroyedAtAnyTime) {
  const SmallSplit split(600);
  const Dataset dataset = Dataset::Open(split.folder());
  for (int i = 0; i < 50; ++i) {
    Loader loader(dataset, BatchOptions(8, 1 + i % 4));
    for (int taken = 0; taken < i % 5; ++taken) loader.Next();
  }
}

TEST(Loader, AShardThatWasCutIsAnErrorWithItsName) {
  for (auto backend :
       {RandomAccessOptions::Backend::kPread, RandomAccessOptions::Backend::kMapped}) {
    const SmallSplit split(60);
    const Dataset dataset = Dataset::Open(split.folder());
    LoaderOptions options = BatchOptions(5);
    options.order = ParseOrder("sequential");
    options.source.backend = backend;
    Loader loader(dataset, options);
    loader.Next();
    std::filesystem::resize_file(split.shard(2), 100);
    const Error error = ErrorOf([&] { Take(loader, 11); });
    EXPECT_EQ(error.place().path, split.shard(2)) << error.what();
  }
}

TEST(Loader, OrderAndAugmentationAreFrozen) {
  const SmallSplit split(101);
  LoaderOptions options = BatchOptions(10);
  Loader loader(Dataset::Open(split.folder()), options);
  Sha256 digest;
  for (const Taken& each : Take(loader, 12)) digest.Update(each.bytes);
  EXPECT_EQ(Hex(digest.Finish()).substr(0, 16), "def538bb540bca80");
}

}  // namespace
}  // namespace recpack
