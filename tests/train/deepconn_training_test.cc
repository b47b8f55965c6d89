#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/text.h"
#include "src/base/format.h"
#include "src/train/checkpoint/checkpoint_folder.h"
#include "src/train/run/trainer.h"
#include "src/train/setup/choices.h"
#include "src/train/setup/complete_options.h"
#include "src/train/setup/saved_model.h"
#include "tests/base/error_of.h"
#include "tests/train/joined_processes.h"
#include "tests/train/small_reviews.h"
#include "tests/train/train_run.h"

namespace recpack::train {
namespace {

using testing::HasSubstr;

TrainerOptions DeepConnOptions(const SmallReviews& data, const std::string& devices = "cpu:0",
                               uint32_t batch_size = 32) {
  TrainerOptions options;
  options.data = data.folder();
  options.model = "deepconn";
  options.deepconn = {.max_tokens = 64, .dims = 16, .filters = 32, .latent = 16, .factors = 8};
  options.devices = ParseDevices(devices);
  options.threads = 1;
  options.batch_size = batch_size;
  options.epochs = 2;
  options.optimizer.rate = 0.02;
  return options;
}

// With default options. The ratings' variance is about 1, so a model that learns nothing from the
// reviews has a squared error of at least 1.
TEST(DeepconnTraining, LearnsByDefaultWhatRatesReviewsThatItHasNotSeen) {
  const SmallReviews data(10'000);
  TrainerOptions options;
  options.data = data.folder();
  options.model = "deepconn";
  options.threads = 1;
  const Ran ran = Train(options);
  EXPECT_GT(ran.epochs.back().evaluation.samples, 900u);
  EXPECT_LT(ran.epochs.back().evaluation.loss, 0.75);
  EXPECT_LT(ran.epochs.back().train.loss, 0.75);
}

class ByOptimizer : public testing::TestWithParam<OptimizerKind> {};

TEST_P(ByOptimizer, GoesOnFromACheckpointAsIfItHadNotStopped) {
  const SmallReviews data(500);
  for (const char* devices : {"cpu:0", "cpu:0,cpu:1"}) {
    for (const StrategyKind strategy : {StrategyKind::kReplicated, StrategyKind::kParameterServer,
                                        StrategyKind::kDistributedReplicated}) {
      TrainerOptions options = DeepConnOptions(data, devices);
      options.optimizer = {.kind = GetParam(), .rate = 0.01};
      options.strategy = strategy;
      const Ran whole = Train(options);
      ExpectResumes(options, options, whole);
    }
  }
}

TEST_P(ByOptimizer, StrategiesAndPlacementsGiveTheSameLosses) {
  const SmallReviews data(500);
  const auto losses = [&](const char* devices, StrategyKind strategy, const char* place) {
    TrainerOptions options = DeepConnOptions(data, devices);
    options.optimizer = {.kind = GetParam(), .rate = 0.01};
    options.strategy = strategy;
    options.place = place;
    return Train(options).losses;
  };
  const auto one = losses("cpu:0", StrategyKind::kReplicated, "one");
  EXPECT_EQ(losses("cpu:0", StrategyKind::kParameterServer, "one"), one);
  EXPECT_EQ(losses("cpu:0,cpu:1", StrategyKind::kReplicated, "alternate"), one);
  const auto two = losses("cpu:0,cpu:1", StrategyKind::kReplicated, "one");
  EXPECT_EQ(losses("cpu:0,cpu:1", StrategyKind::kParameterServer, "one"), two);
  EXPECT_EQ(losses("cpu:0,cpu:1", StrategyKind::kDistributedReplicated, "one"), two);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ByOptimizer,
                         testing::Values(OptimizerKind::kSgd, OptimizerKind::kAdam));

TEST(DeepconnTraining, ACheckpointOfAnotherOptimizerIsRefused) {
  const SmallReviews data(500);
  const TemporaryFolder folder;
  TrainerOptions options = DeepConnOptions(data);
  options.optimizer.kind = OptimizerKind::kSgd;
  options.checkpoints = folder.path();
  options.epochs = 1;
  options.schedule_epochs = 2;
  Train(options);
  options.checkpoints.clear();
  options.resume = folder.path();
  options.epochs = 2;
  options.optimizer.kind = OptimizerKind::kAdam;
  EXPECT_THAT(MessageOf(options),
              AllOf(HasSubstr("of a training by sgd, not by adam"), HasSubstr("--optimizer sgd")));
  options.optimizer.kind = OptimizerKind::kSgd;
  EXPECT_EQ(MessageOf(options), "");
}

TEST(DeepconnTraining, DevicesTogetherGiveTheLossesOfOne) {
  const SmallReviews data(500);
  const auto alone = Train(DeepConnOptions(data, "cpu:0", 32)).losses;
  for (const StrategyKind strategy : {StrategyKind::kReplicated, StrategyKind::kParameterServer}) {
    TrainerOptions options = DeepConnOptions(data, "cpu:0,cpu:1", 16);
    options.strategy = strategy;
    const auto together = Train(options).losses;
    ASSERT_EQ(together.size(), alone.size());
    for (size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR(together[i], alone[i], 1e-3 * alone[i]);
  }
}

TEST(DeepconnTraining, ACheckpointSaysWhichTablesItHas) {
  const SmallReviews data(500);
  for (const WordTables tables : {WordTables::kShared, WordTables::kSeparate}) {
    const TemporaryFolder folder;
    TrainerOptions options = DeepConnOptions(data);
    options.deepconn.tables = tables;
    options.schedule_epochs = 2;
    const Ran whole = Train(options);
    ExpectResumes(options, options, whole);
    options.epochs = 1;
    options.checkpoints = folder.path();
    Train(options);
    const auto last = ChooseCheckpoint(PosixFiles(), folder.path(), {}, "");
    const CheckpointInfo info = ReadCheckpoint(PosixFiles(), last).info;
    // Checkpoints from before there was a choice do not name separate tables.
    EXPECT_EQ(info.model_options.find("tables") != std::string::npos,
              tables == WordTables::kShared);
    TrainerOptions taken;
    TakeModel(info, last, taken);
    EXPECT_EQ(taken.deepconn.tables, tables);
    options.checkpoints.clear();
    options.epochs = 2;
    options.resume = folder.path();
    options.deepconn.tables =
        tables == WordTables::kShared ? WordTables::kSeparate : WordTables::kShared;
    EXPECT_THAT(MessageOf(options), HasSubstr("tables"));
  }
}

TEST(DeepconnTraining, WithWindowsItGoesOnFromACheckpointAndStrategiesAgree) {
  const SmallReviews data(500);
  TrainerOptions options = DeepConnOptions(data, "cpu:0,cpu:1");
  ParsePooling("2/1", options.deepconn);
  const Ran whole = Train(options);
  ExpectResumes(options, options, whole);
  options.strategy = StrategyKind::kParameterServer;
  EXPECT_EQ(Train(options).losses, whole.losses);
  const TemporaryFolder folder;
  options.checkpoints = folder.path();
  Train(options);
  const auto last = ChooseCheckpoint(PosixFiles(), folder.path(), {}, "");
  TrainerOptions taken;
  TakeModel(ReadCheckpoint(PosixFiles(), last).info, last, taken);
  EXPECT_EQ(PoolingText(taken.deepconn), "2/1");
  options.checkpoints.clear();
  options.resume = folder.path();
  ParsePooling("all", options.deepconn);
  EXPECT_THAT(MessageOf(options), HasSubstr("pool_window"));
}

// A file of vectors for two tokens of a vocabulary.
class TokenVectors {
 public:
  explicit TokenVectors(const SmallReviews& data) {
    const ByteBuffer bytes = ReadWholeFile(PosixFiles(), data.folder() + "/vocabulary.txt");
    tokens_ = SplitText(std::string(bytes.begin(), bytes.end()), '\n');
    Write(Text(1));
  }
  // Vectors of `value` and of 2, and of words that are no tokens.
  std::string Text(int value) const {
    std::string text;
    const auto add = [&text](const std::string& word, int of_all) {
      text += word;
      for (int i = 0; i < 16; ++i) text += " " + std::to_string(of_all);
      text += '\n';
    };
    add(tokens_[5], value);
    add("no-token", 3);
    add(tokens_[9], 2);
    add("no-token", 3);
    return text;
  }
  void Write(const std::string& text) {
    WriteFileAtomically(PosixFiles(), path(),
                        {reinterpret_cast<const uint8_t*>(text.data()), text.size()}, false);
  }
  std::string path() const { return folder_ / "vectors.txt"; }
  // That are tokens, unlike padding, the unknown token and the end of the last line.
  size_t tokens() const { return tokens_.size() - 3; }

 private:
  TemporaryFolder folder_;
  std::vector<std::string> tokens_;
};

// Values of a variable behind steps that change nothing.
std::vector<float> Untrained(TrainerOptions options, const std::string& name) {
  const TemporaryFolder folder;
  options.checkpoints = folder.path();
  options.learns = false;
  options.epochs = 1;
  Train(options);
  const Checkpoint read =
      ReadCheckpoint(PosixFiles(), ChooseCheckpoint(PosixFiles(), folder.path(), {}, ""));
  for (const NamedArray& array : read.stored.arrays) {
    if (array.name != name) continue;
    const auto* const values = static_cast<const float*>(array.data);
    return {values, values + Elements(array.shape)};
  }
  ADD_FAILURE() << "no variable " << name;
  return {};
}

TEST(DeepconnTraining, BeginsWithTheVectorsOfAFile) {
  const SmallReviews data(300);
  const TokenVectors file(data);
  for (const char* name : {"embedding.weight", "user.embedding.weight", "item.embedding.weight"}) {
    for (const char* devices : {"cpu:0", "cpu:0,cpu:1"}) {
      SCOPED_TRACE(std::string(name) + " on " + devices);
      TrainerOptions options = DeepConnOptions(data, devices);
      if (name != std::string("embedding.weight")) options.deepconn.tables = WordTables::kSeparate;
      std::vector<float> expected = Untrained(options, name);
      options.word_vectors = file.path();
      for (size_t i = 0; i < 16; ++i) {
        expected[5 * 16 + i] = 1;
        expected[9 * 16 + i] = 2;
      }
      EXPECT_EQ(Untrained(options, name), expected);
      for (const StrategyKind strategy :
           {StrategyKind::kParameterServer, StrategyKind::kDistributedReplicated}) {
        options.strategy = strategy;
        EXPECT_EQ(Untrained(options, name), expected);
      }
    }
  }
}

TEST(DeepconnTraining, AllProcessesBeginWithTheSameVectors) {
  const SmallReviews data(300);
  const TokenVectors file(data);
  TrainerOptions alone = DeepConnOptions(data, "cpu:0,cpu:1"), each = DeepConnOptions(data);
  alone.word_vectors = each.word_vectors = file.path();
  const std::vector<double> expected = Train(alone).losses;
  for (const StrategyKind strategy :
       {StrategyKind::kReplicated, StrategyKind::kDistributedReplicated}) {
    each.strategy = strategy;
    const auto processes = TrainProcesses({each, each});
    for (const Process& process : processes) {
      EXPECT_EQ(process.failure, "");
      EXPECT_EQ(process.ran.losses, expected);
    }
  }
  TokenVectors others(data);
  others.Write(others.Text(4));
  TrainerOptions other = each;
  other.word_vectors = others.path();
  EXPECT_THAT(TrainProcesses({each, other})[1].failure, HasSubstr("word vectors: "));
  other.word_vectors.clear();
  EXPECT_THAT(TrainProcesses({each, other})[1].failure, HasSubstr("file of word vectors: 0"));
}

TEST(DeepconnTraining, SaysHowManyTokensHaveAVector) {
  const SmallReviews data(300);
  TokenVectors file(data);
  TrainerOptions options = DeepConnOptions(data);
  options.word_vectors = file.path();
  const auto told = [&] {
    std::string text;
    Trainer trainer(options, [&](const std::string& line) { text += line + "\n"; });
    trainer.Run([](const EpochReport&) {});
    return text;
  };
  EXPECT_THAT(told(), HasSubstr(format("2 of {} tokens have their vectors from {}, which has 4 "
                                       "words; the other {} begin",
                                       CountText(file.tokens()), file.path(),
                                       CountText(file.tokens() - 2))));
  const TemporaryFolder folder;
  options.checkpoints = folder.path();
  options.epochs = 1;
  options.schedule_epochs = 2;
  told();
  options.checkpoints.clear();
  options.epochs = 2;
  options.resume = folder.path();
  EXPECT_THAT(told(), HasSubstr("is not read: the checkpoint has all vectors"));
  options.resume.clear();
  file.Write("no-token 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
  EXPECT_THAT(MessageOf(options), HasSubstr("none of its 1 words is a token"));
  options.deepconn.dims = 8;
  EXPECT_THAT(MessageOf(options), HasSubstr("--dims 16"));
  options.word_vectors = folder / "none";
  EXPECT_THAT(MessageOf(options), HasSubstr("none"));
  options.model = "resnet";
  EXPECT_THAT(MessageOf(options), HasSubstr("resnet has no token vectors"));
}

TEST(DeepconnTraining, SaysWhatIsWrongWithThePooling) {
  DeepconnOptions options;
  for (const char* text : {"", "2", "2/", "/1", "2/0", "0/1", "2/1/1", "-2/1", "mean",
                           "99999999999/1", "2/99999999999"}) {
    EXPECT_THAT(ErrorOf([&] { ParsePooling(text, options); }).what(),
                HasSubstr(format("unknown pooling '{}': expected all, or WINDOW/STRIDE", text)));
  }
  const SmallReviews data(200);
  TrainerOptions training = DeepConnOptions(data);
  ParsePooling("63/1", training.deepconn);
  EXPECT_THAT(MessageOf(training), AllOf(HasSubstr("windows of 63"), HasSubstr("62 positions")));
}

TEST(DeepconnTraining, WithWindowsTheDefaultRateIsLower) {
  const SmallReviews data(200);
  TrainerOptions options = DeepConnOptions(data);
  options.optimizer.rate = 0;
  EXPECT_EQ(CompleteOptions(options).optimizer.rate, 0.01);
  ParsePooling("2/1", options.deepconn);
  EXPECT_EQ(CompleteOptions(options).optimizer.rate, 0.001);
}

TEST(DeepconnTraining, SeparateTablesGiveTheSameLossesWithAllStrategies) {
  const SmallReviews data(500);
  const auto losses = [&](StrategyKind strategy) {
    TrainerOptions options = DeepConnOptions(data, "cpu:0,cpu:1");
    options.deepconn.tables = WordTables::kSeparate;
    options.strategy = strategy;
    return Train(options).losses;
  };
  const auto replicated = losses(StrategyKind::kReplicated);
  EXPECT_EQ(losses(StrategyKind::kParameterServer), replicated);
  EXPECT_EQ(losses(StrategyKind::kDistributedReplicated), replicated);
}

TEST(DeepconnTraining, SaysWhatIsWrongWithTheVocabulary) {
  const SmallReviews data(200);
  TrainerOptions options = DeepConnOptions(data);
  options.deepconn.vocabulary = 5;
  EXPECT_THAT(MessageOf(options), AllOf(HasSubstr("tokens of step 0"), HasSubstr("0 to 4")));
  options.deepconn.vocabulary = 0;
  std::filesystem::remove(data.folder() + "/vocabulary.txt");
  EXPECT_THAT(MessageOf(options), HasSubstr("vocabulary.txt"));
  options.model = "lenet";
  EXPECT_THAT(MessageOf(options), HasSubstr("'lenet'"));
}

}  // namespace
}  // namespace recpack::train
