#include "src/train/evaluate/evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/cpu/cpu_ops.h"
#include "tests/base/temporary_folder.h"
#include "tests/train/small_cifar.h"
#include "tests/train/small_reviews.h"
#include "tests/train/train_run.h"

namespace recpack::train {
namespace {

using testing::HasSubstr;

TrainerOptions Options(const std::string& data, const std::string& checkpoints,
                       const std::string& model = "resnet") {
  TrainerOptions options;
  options.data = data;
  options.model = model;
  options.resnet.width = 8;
  options.vgg = {.depth = 11, .width = 4, .dense = 32};
  options.googlenet.width = 8;
  options.alexnet = {.filters = 8, .dense = 64};
  options.deepconn = {.max_tokens = 32, .dims = 8, .filters = 8, .latent = 8, .factors = 4};
  options.threads = 1;
  options.batch_size = 16;
  options.epochs = 6;
  options.warmup_epochs = 0;
  options.optimizer.rate = 0.02;
  options.checkpoints = checkpoints;
  return options;
}

EvaluatorOptions Of(const std::string& checkpoint, uint32_t batch_size = 16) {
  return {.checkpoint = checkpoint, .batch_size = batch_size, .threads = 1};
}

std::string MessageOf(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Evaluator, GivesTheScoreThatTheTrainingGave) {
  const SmallCifar pictures(50);
  const SmallReviews reviews(300);
  for (const char* model : {"resnet", "vgg", "googlenet", "alexnet", "deepconn"}) {
    SCOPED_TRACE(model);
    const bool predicts = model == std::string("deepconn");
    const TemporaryFolder folder;
    TrainerOptions options =
        Options(predicts ? reviews.folder() : pictures.folder(), folder.path(), model);
    options.epochs = 2;
    const Score expected = Train(options).epochs.back().evaluation;
    for (const uint32_t batch_size : {16U, 7U}) {  // with neither is the last batch full
      Evaluator evaluator(Of(folder.path(), batch_size));
      EXPECT_EQ(evaluator.checkpoint().model, model);
      EXPECT_EQ(evaluator.classifies(), !predicts);
      const Evaluation found = evaluator.Evaluate({.data = options.data});
      EXPECT_EQ(found.score.samples, expected.samples);
      EXPECT_NEAR(found.score.loss, expected.loss, 1e-4 * expected.loss);
      EXPECT_NEAR(found.score.accuracy, expected.accuracy, 1e-9);
      EXPECT_GT(found.samples_per_second, 0);
    }
  }
}

TEST(Evaluator, ActivationsOfBf16ScoreAboutTheSame) {
  if (!MakeCpuOps()->Computes(ElementType::kBf16)) GTEST_SKIP() << "this processor has no bf16";
  const SmallCifar data(80);
  const TemporaryFolder folder;
  const Score expected = Train(Options(data.folder(), folder.path())).epochs.back().evaluation;
  EvaluatorOptions options = Of(folder.path());
  options.type = ElementType::kBf16;
  Evaluator evaluator(options);
  EXPECT_NEAR(evaluator.Evaluate({.data = data.folder()}).score.loss, expected.loss, 0.05);
  EXPECT_THAT(MessageOf([&] { evaluator.EvaluateQuantised({.data = data.folder()}); }),
              HasSubstr("f32"));
}

TEST(Evaluator, IntegersAgreeWithFloats) {
  const SmallCifar data(300);
  for (const char* model : {"resnet", "vgg", "alexnet"}) {
    SCOPED_TRACE(model);
    const TemporaryFolder folder;
    const Score trained =
        Train(Options(data.folder(), folder.path(), model)).epochs.back().evaluation;
    Evaluator evaluator(Of(folder.path(), 32));
    const QuantisedEvaluation found =
        evaluator.EvaluateQuantised({.data = data.folder()}, {.batches = 4});
    EXPECT_EQ(found.calibrated_on, 4 * 32u);
    EXPECT_EQ(found.f32.score.samples, 300u);
    EXPECT_EQ(found.int8.score.samples, 300u);
    EXPECT_EQ(found.folded.score.samples, 300u);
    EXPECT_NEAR(found.folded.score.loss, found.f32.score.loss, 1e-4 * found.f32.score.loss);
    EXPECT_EQ(found.folded.score.accuracy, found.f32.score.accuracy);
    EXPECT_NEAR(found.f32.score.loss, trained.loss, 1e-4 * trained.loss);
    EXPECT_NEAR(found.int8.score.loss, trained.loss, 0.05 * trained.loss);
    EXPECT_NE(found.int8.score.loss, found.f32.score.loss) << "no integers there";
    EXPECT_NEAR(found.int8.score.accuracy, trained.accuracy, 9.5 / 300);  // at most 9 samples
    EXPECT_GE(found.same_class, 285u);
    EXPECT_LE(found.same_class, 300u);
    EXPECT_GT(found.ratio_to_folded, 0);
    const QuantisedEvaluation cut =
        evaluator.EvaluateQuantised({.data = data.folder()}, {.batches = 4, .percentile = 99.9});
    EXPECT_NE(cut.int8.score.loss, found.int8.score.loss) << "other scales";
    EXPECT_NEAR(cut.int8.score.loss, trained.loss, 0.05 * trained.loss);
    EXPECT_EQ(cut.f32.score.loss, found.f32.score.loss);
    for (const double none : {0.0, -1.0, 100.1, std::nan("")}) {
      EXPECT_THROW(evaluator.EvaluateQuantised({.data = data.folder()}, {.percentile = none}),
                   Error);
    }
  }
}

TEST(Evaluator, NamesTheClassOfAPicture) {
  const SmallCifar data(300);
  const TemporaryFolder folder;
  TrainerOptions options = Options(data.folder(), folder.path());
  options.epochs = 10;
  Train(options);
  Evaluator evaluator(Of(folder.path(), 1));
  ASSERT_EQ(evaluator.image_size(), 32);
  Evaluator of_batches(Of(folder.path(), 4));
  int right = 0;
  for (const size_t label : {0u, 4u, 8u}) {  // as SmallCifar makes them
    std::vector<uint8_t> pixels(3072, 60);
    for (size_t i = label % 3; i < pixels.size(); i += 3) {
      pixels[i] = static_cast<uint8_t>(120 + label * 12);
    }
    const auto shares = evaluator.Classify(pixels.data());
    ASSERT_EQ(shares.size(), 10u);
    EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-9);
    const auto most = std::max_element(shares.begin(), shares.end());
    right += most - shares.begin() == static_cast<ptrdiff_t>(label);
    const auto again = of_batches.Classify(pixels.data());
    for (size_t i = 0; i < 10; ++i) EXPECT_NEAR(again[i], shares[i], 1e-5);
  }
  EXPECT_GE(right, 2);
}

TEST(Evaluator, RefusesLabelsThatAreOutOfRange) {
  const SmallCifar data(64);
  const TemporaryFolder folder;
  Train(Options(data.folder(), folder.path()));
  data.AddLabels(10, 8);
  Evaluator evaluator(Of(folder.path()));
  EXPECT_THAT(MessageOf([&] { evaluator.Evaluate({.data = data.folder(), .split = "train"}); }),
              HasSubstr("not in 0 to 9"));
  EXPECT_THAT(MessageOf([&] { evaluator.EvaluateQuantised({.data = data.folder()}); }),
              HasSubstr("not in 0 to 9"));
}

TEST(Evaluator, RefusesRecipesOfOtherPictures) {
  const SmallCifar data(16);
  const TemporaryFolder folder;
  TrainerOptions training = Options(data.folder(), folder.path());
  training.epochs = 1;
  Train(training);
  EvaluatorOptions options = Of(folder.path());
  options.recipe = "imagenet-eval";
  Evaluator evaluator(options);
  EXPECT_THAT(MessageOf([&] { evaluator.Evaluate({.data = data.folder()}); }),
              HasSubstr("is not an image"));
}

TEST(Evaluator, RefusesWhatItCannotEvaluateOn) {
  const SmallReviews reviews(100);
  const TemporaryFolder folder;
  Train(Options(reviews.folder(), folder.path(), "deepconn"));
  Evaluator evaluator(Of(folder.path()));
  EXPECT_THAT(MessageOf([&] { evaluator.EvaluateQuantised({.data = reviews.folder()}); }),
              HasSubstr("deepconn"));
  EXPECT_THAT(MessageOf([&] { evaluator.image_size(); }), HasSubstr("does not read images"));
  const SmallCifar pictures(20);
  EXPECT_THAT(MessageOf([&] { evaluator.Evaluate({.data = pictures.folder()}); }),
              HasSubstr("user_tokens"));
  EXPECT_THAT(MessageOf([&] { evaluator.Evaluate({.data = reviews.folder(), .split = "other"}); }),
              HasSubstr("other"));
}

// A checkpoint without arrays, with this model information.
std::string MessageOfCheckpoint(const std::string& model, const std::string& options) {
  const TemporaryFolder folder;
  const std::string path = format("{}/made.safetensors", folder.path());
  WriteCheckpoint(PosixFiles(), path, {.model = model, .model_options = options}, {}, false);
  return MessageOf([&] { const Evaluator evaluator(Of(path)); });
}

TEST(Evaluator, RefusesCheckpointsThatAreNone) {
  const TemporaryFolder folder;
  EXPECT_THAT(MessageOf([&] { const Evaluator evaluator(Of(folder.path())); }),
              HasSubstr("there is no checkpoint"));
  EXPECT_THAT(MessageOf([&] { const Evaluator evaluator(Of("/nowhere/step")); }),
              HasSubstr("/nowhere/step"));
  const std::string path = format("{}/arrays.safetensors", folder.path());
  WriteSafetensors(PosixFiles(), path, {}, {}, false);
  EXPECT_THAT(MessageOf([&] { const Evaluator evaluator(Of(path)); }),
              HasSubstr("not a checkpoint"));
  EXPECT_THAT(MessageOfCheckpoint("lenet", "{}"), HasSubstr("'lenet'"));
  EXPECT_THAT(MessageOfCheckpoint("resnet", "[]"), HasSubstr("[]"));
  EXPECT_THAT(MessageOfCheckpoint("resnet", R"({"width":8,"classes":10})"), HasSubstr("\"image\""));
  for (const char* wrong : {"0", "-8", "8.5", "\"8\"", "99999999999"}) {
    EXPECT_THAT(
        MessageOfCheckpoint("resnet", format(R"({{"classes":10,"image":32,"width":{}}})", wrong)),
        HasSubstr("\"width\""))
        << wrong;
  }
  EXPECT_THAT(MessageOfCheckpoint("resnet", R"({"classes":10,"image":32,"width":8})"),
              HasSubstr("missing conv1.weight"));
  EXPECT_THAT(MessageOfCheckpoint("resnet", R"({"classes":10,"depth":35,"image":32,"width":8})"),
              HasSubstr("no resnet of 35 layers"));
}

}  // namespace
}  // namespace recpack::train
