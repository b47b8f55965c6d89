#include "src/train/checkpoint/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "recpack/base/error.h"
#include "tests/base/error_of.h"
#include "tests/base/temporary_folder.h"
#include "tests/train/run_state.h"

namespace recpack::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CheckpointTest : public ::testing::Test {
 protected:
  void Write(const RunState& state) { WriteCheckpoint(files_, path_, state.info, state.arrays); }

  Error Refusal(const CheckpointTarget& target) {
    const Error error = ErrorOf([&] { LoadCheckpoint(files_, path_, target); });
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument) << error.what();
    EXPECT_EQ(error.place().path, path_);
    EXPECT_FALSE(error.advice().empty());
    return error;
  }

  // The error for a file with that metadata.
  Error ErrorWith(const ArrayMetadata& metadata) {
    WriteSafetensors(files_, path_, {}, metadata);
    return ErrorOf([&] { ReadCheckpoint(files_, path_); });
  }

  // The metadata of a valid checkpoint.
  ArrayMetadata Good() {
    Write(RunState(12));
    return ReadSafetensors(files_, path_).metadata;
  }

  TemporaryFolder folder_;
  FileSystem& files_ = PosixFiles();
  std::string path_ = folder_ / "a.safetensors";
};

TEST_F(CheckpointTest, AllComesBack) {
  const RunState state(1234);
  Write(state);
  const Checkpoint loaded = LoadCheckpoint(files_, path_, state.Target());
  EXPECT_EQ(loaded.info, state.info);
  EXPECT_EQ(Content(loaded.stored.arrays), Content(state.arrays));
}

TEST_F(CheckpointTest, ArraysComeInTheOrderOfTheTarget) {
  RunState state(1);
  Write(state);
  std::swap(state.arrays[0], state.arrays[2]);
  const Checkpoint loaded = LoadCheckpoint(files_, path_, state.Target());
  EXPECT_EQ(Content(loaded.stored.arrays), Content(state.arrays));
}

TEST_F(CheckpointTest, SumsKeepEveryBit) {
  RunState state(1);
  state.info.sums = {{"third", 1.0 / 3},
                     {"tiny", std::numeric_limits<double>::denorm_min()},
                     {"huge", -std::numeric_limits<double>::max()},
                     {"minus zero", -0.0},
                     {"infinite", std::numeric_limits<double>::infinity()},
                     {"nan", std::nan("")}};
  Write(state);
  const auto sums = ReadCheckpoint(files_, path_).info.sums;
  ASSERT_EQ(sums.size(), state.info.sums.size());
  for (const auto& [name, sum] : state.info.sums) {
    EXPECT_EQ(std::bit_cast<uint64_t>(sums.at(name)), std::bit_cast<uint64_t>(sum)) << name;
  }
}

TEST_F(CheckpointTest, TheLargestNumbersComeBack) {
  RunState state(std::numeric_limits<uint64_t>::max());
  state.info.seed = state.info.epoch = state.info.step;
  Write(state);
  EXPECT_EQ(ReadCheckpoint(files_, path_).info, state.info);
}

TEST_F(CheckpointTest, EvaluationLeavesTheOptimizerInTheFile) {
  const RunState state(1);
  Write(state);
  CheckpointTarget target = state.Target();
  target.with_optimizer = false;
  // With or without its names in the target.
  EXPECT_EQ(LoadCheckpoint(files_, path_, target).stored.arrays.size(), 2u);
  target.arrays = target.arrays.first(2);
  EXPECT_EQ(LoadCheckpoint(files_, path_, target).stored.arrays.size(), 2u);
}

TEST_F(CheckpointTest, AnotherModelIsRefused) {
  const RunState state(1);
  Write(state);
  CheckpointTarget target = state.Target();
  target.model = "other";
  EXPECT_THAT(Refusal(target).reason(), AllOf(HasSubstr("'net'"), HasSubstr("'other'")));
}

TEST_F(CheckpointTest, OtherOptionsAreRefusedByName) {
  const RunState state(1);
  Write(state);
  CheckpointTarget target = state.Target();
  target.model_options = R"({"classes": 10, "width": 64})";
  EXPECT_THAT(Refusal(target).reason(), HasSubstr("classes: absent in the file, 10 here, "
                                                  "width: 16 in the file, 64 here"));
  target.model_options = R"( {"width" : 16} )";  // the same options in another spelling
  EXPECT_EQ(LoadCheckpoint(files_, path_, target).info, state.info);
}

TEST_F(CheckpointTest, OptionsThatAreNoJsonAreComparedAsText) {
  RunState state(1);
  state.info.model_options = "w16";
  Write(state);
  EXPECT_EQ(LoadCheckpoint(files_, path_, state.Target()).info, state.info);
  state.info.model_options = "w64";
  EXPECT_THAT(Refusal(state.Target()).reason(), HasSubstr("w16 in the file, w64 here"));
}

TEST_F(CheckpointTest, OptionsOfAnyDepthAreComparedAsText) {
  RunState state(1);
  state.info.model_options =
      R"({"a":)" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}";
  Write(state);
  EXPECT_EQ(LoadCheckpoint(files_, path_, state.Target()).info, state.info);
  state.info.model_options = "{}";
  EXPECT_LT(Refusal(state.Target()).reason().size(), 1000u);
}

TEST_F(CheckpointTest, OtherArraysAreRefusedWithTheFirstDifferences) {
  RunState state(1);
  Write(state);
  state.arrays[0].name = "conv2.weight";
  state.arrays[1].shape = {27, 16};
  state.arrays[2].type = ElementType::kI32;
  EXPECT_THAT(Refusal(state.Target()).reason(),
              HasSubstr("missing conv2.weight (f32 16x27), "
                        "bn1.running_mean is f32 16x27 in the file, f32 27x16 here, "
                        "optimizer.momentum/conv1.weight is f32 16x27 in the file, i32 16x27 here, "
                        "unexpected conv1.weight (f32 16x27)"));
}

TEST_F(CheckpointTest, ManyDifferencesAreCounted) {
  const RunState state(1);
  Write(state);
  std::vector<NamedArray> arrays;
  for (int i = 0; i < 100; ++i) arrays.push_back({"a" + std::to_string(i), ElementType::kF32, {}});
  CheckpointTarget target = state.Target();
  target.arrays = arrays;
  EXPECT_THAT(Refusal(target).reason(),
              AllOf(HasSubstr("missing a5 (f32 scalar) and 97 more"), Not(HasSubstr("a6"))));
}

TEST_F(CheckpointTest, AFileOfPlainWeightsIsNoCheckpoint) {
  const Error error = ErrorWith({{"format", "pt"}});
  EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
  EXPECT_THAT(error.reason(), HasSubstr("not a checkpoint"));
  EXPECT_EQ(ErrorWith({}).kind(), ErrorKind::kInvalidArgument);
}

TEST_F(CheckpointTest, ALaterVersionIsNamed) {
  ArrayMetadata metadata = Good();
  metadata["format_version"] = "2";
  const Error error = ErrorWith(metadata);
  EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
  EXPECT_THAT(error.what(), HasSubstr("version 2"));
}

TEST_F(CheckpointTest, WhatIsMissingOrNoNumberIsNamed) {
  const ArrayMetadata good = Good();
  for (const char* key :
       {"format_version", "model", "model_options", "step", "epoch", "seed", "loader_token"}) {
    ArrayMetadata metadata = good;
    metadata.erase(key);
    const Error error = ErrorWith(metadata);
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt) << key;
    EXPECT_THAT(error.reason(), HasSubstr(key));
  }
  for (const char* key : {"format_version", "step", "epoch", "seed", "sum.loss"}) {
    for (const char* value : {"", "x", "1x", " 1", "99999999999999999999999999x"}) {
      ArrayMetadata metadata = good;
      metadata[key] = value;
      EXPECT_EQ(ErrorWith(metadata).kind(), ErrorKind::kCorrupt) << key << "=" << value;
    }
  }
}

TEST_F(CheckpointTest, AMissingFileIsNotFound) {
  EXPECT_EQ(ErrorOf([&] { ReadCheckpoint(files_, path_); }).kind(), ErrorKind::kNotFound);
}

}  // namespace
}  // namespace recpack::train
