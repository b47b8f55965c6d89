// Ragged arrays with offsets: rows of all samples without padding.
#include "src/loader/batch/ragged_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "recpack/base/bytes.h"
#include "recpack/base/error.h"
#include "recpack/loader/loader.h"
#include "tests/base/error_of.h"
#include "tests/loader/small_split.h"

namespace recpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// id % 5 words, each the id; id % 7 bytes of text; and id % 4 pairs (id, row) by a function.
FunctionField Pairs() {
  return {.arrays = {{.name = "pairs",
                      .type = ElementType::kI32,
                      .shape = {3, 2},
                      .rows = ArrayRows::kRagged}},
          .call = [](SampleView& sample) {
            const auto rows = static_cast<int64_t>(sample.id % 4);
            for (int64_t row = 0; row < rows; ++row) {
              StoreLittleEndian(sample.out[0] + row * 8, static_cast<int32_t>(sample.id));
              StoreLittleEndian(sample.out[0] + row * 8 + 4, static_cast<int32_t>(row));
            }
            StoreLittleEndian(sample.out[1], rows);
          }};
}

LoaderOptions RaggedOptions(uint32_t batch_size, int threads = 2) {
  LoaderOptions options{.batch_size = batch_size, .seed = 3, .threads = threads};
  options.fields = {
      NumbersField{.name = "words", .length = 4, .ragged = true, .offsets = true},
      BytesField{.name = "text", .shape = {6}, .ragged = true, .offsets = true},
      NumbersField{.name = "label"},
      Pairs(),
  };
  return options;
}

std::string NamesOf(const Loader& loader) {
  std::string names;
  for (const ArraySpec& array : loader.arrays()) names += array.name + " ";
  return names;
}

void ExpectRows(const Batch& batch) {
  const auto* const words = batch.Data<int64_t>("words");
  const auto* const word_at = batch.Data<int64_t>("words_offsets");
  const auto* const text_at = batch.Data<int64_t>("text_offsets");
  const auto* const pairs = batch.Data<int32_t>("pairs");
  const auto* const pair_at = batch.Data<int64_t>("pairs_offsets");
  ASSERT_EQ(word_at[0], 0);
  for (uint32_t i = 0; i < batch.size(); ++i) {
    const auto id = static_cast<int64_t>(batch.ids()[i]);
    ASSERT_EQ(batch.Data<int64_t>("label")[i], id);
    ASSERT_EQ(word_at[i + 1] - word_at[i], id % 5);
    for (int64_t at = word_at[i]; at < word_at[i + 1]; ++at) ASSERT_EQ(words[at], id);
    ASSERT_EQ(text_at[i + 1] - text_at[i], id % 7);
    ASSERT_EQ(pair_at[i + 1] - pair_at[i], id % 4);
    for (int64_t row = 0; row < id % 4; ++row) {
      ASSERT_EQ(pairs[2 * (pair_at[i] + row)], id);
      ASSERT_EQ(pairs[2 * (pair_at[i] + row) + 1], row);
    }
  }
  ASSERT_EQ(batch.arrays()[0].name, "words");
  EXPECT_EQ(batch.Rows(0), static_cast<size_t>(word_at[batch.size()]));
  EXPECT_EQ(batch.Bytes(0), batch.Rows(0) * sizeof(int64_t));
  EXPECT_EQ(batch.Rows(1), batch.size() + 1);
  EXPECT_EQ(batch.Rows(4), batch.size());
  EXPECT_EQ(batch.Bytes(5), static_cast<size_t>(pair_at[batch.size()]) * 8);
}

TEST(RaggedRows, LieOneBehindTheOther) {
  const SmallSplit split(101);
  const Dataset dataset = Dataset::Open(split.folder());
  for (const int threads : {1, 4}) {
    LoaderOptions options = RaggedOptions(10, threads);
    options.last_batch = LastBatch::kKeep;
    options.epochs = 2;
    Loader loader(dataset, options);
    EXPECT_EQ(NamesOf(loader), "words words_offsets text text_offsets label pairs pairs_offsets ");
    uint32_t samples = 0;
    for (auto batch = loader.Next(); batch; batch = loader.Next()) {
      ExpectRows(*batch);
      samples += batch->size();
    }
    EXPECT_EQ(samples, 101u) << "an epoch";
  }
}

TEST(RaggedRows, ArePackedBeforeBatchFunctions) {
  const SmallSplit split(40);
  const Dataset dataset = Dataset::Open(split.folder());
  LoaderOptions options = RaggedOptions(10);
  options.batch_steps.push_back(BatchFunction{
      .arrays = {{.name = "sum", .type = ElementType::kI64}}, .call = [](BatchView& batch) {
        const auto* const at = batch.Data<int64_t>("words_offsets");
        EXPECT_EQ(batch.Rows("words"), static_cast<size_t>(at[batch.size]));
        EXPECT_EQ(batch.Rows("words_offsets"), batch.size + 1);
        for (uint32_t i = 0; i < batch.size; ++i) {
          batch.Data<int64_t>("sum")[i] = 0;
          for (int64_t j = at[i]; j < at[i + 1]; ++j) {
            batch.Data<int64_t>("sum")[i] += batch.Data<int64_t>("words")[j];
          }
        }
      }});
  Loader loader(dataset, options);
  const auto batch = loader.Next();
  for (uint32_t i = 0; i < 10; ++i) {
    const auto id = static_cast<int64_t>(batch->ids()[i]);
    EXPECT_EQ(batch->Data<int64_t>("sum")[i], id * (id % 5));
  }
}

TEST(RaggedRows, StayInsideWhateverTheOffsetsSay) {
  std::vector<ArraySpec> arrays = {{.name = "rows",
                                    .type = ElementType::kI32,
                                    .shape = {2},
                                    .sample_bytes = 8,
                                    .rows = ArrayRows::kRagged}};
  arrays.push_back(OffsetsOf(arrays[0]));
  arrays[1].offset = 64;
  std::vector<uint8_t> slab(128);
  const auto counts = [&](std::vector<int64_t> values) {
    std::memcpy(slab.data() + 64, values.data(), values.size() * 8);
  };
  counts({7, -3, 1});
  PackRagged(arrays, 3, slab.data());
  std::vector<int64_t> offsets(4);
  std::memcpy(offsets.data(), slab.data() + 64, 32);
  EXPECT_THAT(offsets, ElementsAre(0, 2, 2, 3));
  EXPECT_EQ(RowsOf(arrays, 0, 3, slab.data()), 3u);
  counts({0, 2, 2, int64_t{1} << 60});
  EXPECT_EQ(RowsOf(arrays, 0, 3, slab.data()), 6u);
  counts({0, 2, 2, -1});
  EXPECT_EQ(RowsOf(arrays, 0, 3, slab.data()), 0u);
}

TEST(RaggedRows, RefusesWhatCannotBe) {
  const SmallSplit split(20);
  const Dataset dataset = Dataset::Open(split.folder());
  const auto reason = [&](const Field& field) {
    LoaderOptions options{.fields = {field}, .batch_size = 5};
    return std::string(ErrorOf([&] {
                         Loader loader(dataset, options);
                         loader.Next();
                       }).what());
  };
  EXPECT_THAT(reason(NumbersField{.name = "words", .length = 4, .offsets = true}),
              HasSubstr("has offsets and is not ragged"));
  EXPECT_THAT(reason(NumbersField{.name = "words", .length = 2, .ragged = true, .offsets = true}),
              HasSubstr("the field takes at most 2"));
  FunctionField pairs = Pairs();
  pairs.arrays[0].shape = {};
  EXPECT_THAT(reason(pairs), HasSubstr("a ragged array has a first dimension"));

  LoaderOptions options{.fields = {NumbersField{.name = "label"}}, .batch_size = 5};
  options.batch_steps.push_back(BatchFunction{.arrays = Pairs().arrays, .call = [](BatchView&) {}});
  EXPECT_THAT(ErrorOf([&] { Loader(dataset, options); }).what(),
              HasSubstr("a batch function cannot add ragged arrays"));
}

}  // namespace
}  // namespace recpack
