// Deepconn over several devices: the same training as on one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "recpack/base/error.h"
#include "src/train/cpu/cpu_ops.h"
#include "tests/train/small_reviews.h"
#include "tests/train/train_run.h"

namespace recpack::train {
namespace {

using testing::HasSubstr;

constexpr char kTowers[] = "user=cpu:0,item=cpu:1";
constexpr uint64_t kBatch = 32;

class PlacedTraining : public testing::Test {
 protected:
  static TrainerOptions Options(const std::string& devices = "cpu:0",
                                const std::string& place = "one",
                                WordTables tables = WordTables::kShared) {
    static const SmallReviews data(500);
    TrainerOptions options;
    options.data = data.folder();
    options.eval_split = "validation";
    options.model = "deepconn";
    options.deepconn = {
        .max_tokens = 24, .dims = 16, .filters = 32, .latent = 16, .factors = 8, .tables = tables};
    options.devices = ParseDevices(devices);
    options.place = place;
    options.threads = 1;
    options.batch_size = kBatch;
    options.epochs = 2;
    return options;
  }
};

// Copies of a step, forward and back; arrays of the batch have no gradient.
uint64_t CopiesOf(const ModelGraph& graph, const DeviceOfOperation& device_of) {
  uint64_t copies = 0;
  for (size_t i = 0; i < graph.size(); ++i) {
    for (const std::string& source : graph[i].reads) {
      const auto made = std::find_if(graph.begin(), graph.end(),
                                     [&](const auto& other) { return other.name == source; });
      if (made == graph.end()) {
        copies += device_of[i] != 0;
      } else if (device_of[static_cast<size_t>(made - graph.begin())] != device_of[i]) {
        copies += 2;
      }
    }
  }
  return copies;
}

struct CountedCopies {
  const char* devices;
  const char* place;
  uint64_t copies;  // per step, counted by hand
};

void ExpectCopies(const std::function<TrainerOptions(const char* devices, const char* place)>& make,
                  const std::vector<CountedCopies>& cases) {
  const Ran alone = Train(make("cpu:0", "one"));
  EXPECT_GT(alone.epochs[0].evaluation.samples, 0u);
  EXPECT_EQ(alone.epochs[0].transfers.calls, 0u);
  for (const CountedCopies& of : cases) {
    SCOPED_TRACE(std::string(of.devices) + " " + of.place);
    const TrainerOptions options = make(of.devices, of.place);
    const Ran placed = Train(options);
    ExpectSameTraining(placed, alone);
    const auto steps = alone.losses.size() / alone.epochs.size();
    const ModelGraph graph = DeepconnGraph(options.deepconn);
    EXPECT_EQ(CopiesOf(graph, PlaceOperations(of.place, graph, options.devices)), of.copies);
    for (const EpochReport& epoch : placed.epochs) {
      EXPECT_EQ(epoch.transfers.calls, of.copies * steps);
    }
  }
}

TEST_F(PlacedTraining, GivesTheLossesOfOneDeviceWithTheCopiesOfTheGraph) {
  ExpectCopies([](const char* devices, const char* place) { return Options(devices, place); },
               {{"cpu:0,cpu:1", kTowers, 4},
                {"cpu:0,cpu:1", "alternate", 22},
                {"cpu:0,cpu:1", "embedding=cpu:1", 6},
                {"cpu:0,cpu:1", "fm=cpu:1", 5},
                {"cpu:0,cpu:1", "user=cpu:1,item=cpu:1,fm=cpu:1", 5},
                {"cpu:0,cpu:1", "user.tanh=cpu:1", 4},
                {"cpu:0,cpu:1", "user=cpu:0", 0},
                {"cpu:0,cpu:1,cpu:2", "user=cpu:1,item=cpu:2", 8},
                {"cpu:0,cpu:1,cpu:2", "alternate", 22},
                {"cpu:0", "alternate", 0}});
}

TEST_F(PlacedTraining, WithSeparateTablesTheLookUpsArePlacedToo) {
  ExpectCopies([](const char* devices,
                  const char* place) { return Options(devices, place, WordTables::kSeparate); },
               {{"cpu:0,cpu:1", kTowers, 3},
                {"cpu:0,cpu:1", "alternate", 27},
                {"cpu:0,cpu:1", "fm=cpu:1", 5},
                {"cpu:0,cpu:1", "user=cpu:1,item=cpu:1,fm=cpu:1", 3},
                {"cpu:0,cpu:1", "user.tanh=cpu:1", 4},
                {"cpu:0,cpu:1", "user=cpu:0", 0},
                {"cpu:0,cpu:1,cpu:2", "user=cpu:1,item=cpu:2", 6},
                {"cpu:0,cpu:1,cpu:2", "alternate", 27},
                {"cpu:0", "alternate", 0}});
}

TEST_F(PlacedTraining, WithWindowsFlatteningIsPlacedToo) {
  ExpectCopies(
      [](const char* devices, const char* place) {
        TrainerOptions options = Options(devices, place);
        options.deepconn.pool_window = 2;
        return options;
      },
      {{"cpu:0,cpu:1", kTowers, 4},
       {"cpu:0,cpu:1", "alternate", 30},
       {"cpu:0,cpu:1", "user.flatten=cpu:1", 4}});
}

TEST_F(PlacedTraining, AccountsForWhatIsCopied) {
  // The tower's output and its gradient; and the item's tokens, or its token vectors and their
  // gradient.
  for (const auto& [tables, values] : {std::pair(WordTables::kSeparate, 24 + 2 * 16),
                                       {WordTables::kShared, 2 * 24 * 16 + 2 * 16}}) {
    const Ran placed = Train(Options("cpu:0,cpu:1", kTowers, tables));
    const auto steps = placed.losses.size() / placed.epochs.size();
    for (const EpochReport& epoch : placed.epochs) {
      const TransferAccount& transfers = epoch.transfers;
      EXPECT_EQ(transfers.bytes, steps * kBatch * static_cast<uint64_t>(values) * 4);
      EXPECT_GT(transfers.shortest, 0);
      EXPECT_LE(transfers.shortest, transfers.average());
      EXPECT_LE(transfers.average(), transfers.longest);
      EXPECT_LE(transfers.longest, transfers.seconds);
    }
  }
}

TEST_F(PlacedTraining, EveryFormGivesTheLossesOfOneDevice) {
  for (const ElementType type : {ElementType::kF32, ElementType::kBf16}) {
    if (!MakeCpuOps()->Computes(type)) continue;
    for (const ImageLayout layout : {ImageLayout::kNhwc, ImageLayout::kNchw}) {
      TrainerOptions alone = Options(), placed = Options("cpu:0,cpu:1", "alternate");
      for (TrainerOptions* options : {&alone, &placed}) {
        options->type = type;
        options->layout = layout;
        options->max_steps = 5;
      }
      ExpectSameTraining(Train(placed), Train(alone));
    }
  }
}

TEST_F(PlacedTraining, GoesOnFromACheckpointOfAnotherPlacement) {
  const Ran whole = Train(Options());
  const struct {
    TrainerOptions first, rest;
  } cases[] = {{Options(), Options("cpu:0,cpu:1", kTowers)},
               {Options("cpu:0,cpu:1", kTowers), Options("cpu:0,cpu:1,cpu:2", "alternate")},
               {Options("cpu:0,cpu:1", "alternate"), Options()}};
  for (const auto& [first, rest] : cases) ExpectResumes(first, rest, whole);
}

TEST_F(PlacedTraining, RefusesWhatCannotBePlaced) {
  TrainerOptions options = Options("cpu:0,cpu:1", "user=cpu:2");
  EXPECT_THAT(MessageOf(options), AllOf(HasSubstr("cpu:2"), HasSubstr("cpu:0, cpu:1")));
  options.place = "towers=cpu:1";
  EXPECT_THAT(MessageOf(options), HasSubstr("no part 'towers'"));
  options.place = "user.embedding=cpu:1";
  EXPECT_THAT(MessageOf(options),
              AllOf(HasSubstr("no part 'user.embedding'"), HasSubstr("embedding, user")));
  options.place = kTowers;
  options.strategy = StrategyKind::kParameterServer;
  EXPECT_THAT(MessageOf(options), HasSubstr("where they are read"));
  EXPECT_THAT(MessageOf(Options("sim:1ms,sim:1ms", "alternate")), HasSubstr("computes nothing"));
}

TEST_F(PlacedTraining, EndsWithTheFirstLayerOfNumbersThatAreNone) {
  TrainerOptions options = Options("cpu:0,cpu:1", "alternate");
  options.optimizer.rate = 1e30;
  options.warmup_epochs = 0;
  EXPECT_THAT(MessageOf(options), HasSubstr("is not a number; the first layer"));
  options = Options("cpu:0,cpu:1", kTowers);
  options.deepconn.vocabulary = 5;
  EXPECT_THAT(MessageOf(options), AllOf(HasSubstr("tokens of step 0"), HasSubstr("0 to 4")));
}

TEST_F(PlacedTraining, ADeviceThatIsNotThereIsRefusedOrReplaced) {
  TrainerOptions options = Options("cpu:0,cuda:1000", "user=cpu:0,item=cuda:1000");
  EXPECT_THAT(MessageOf(options), AllOf(HasSubstr("cuda:1000"), HasSubstr("cpu:0")));
  options.soft_placement = options.log_placement = true;
  std::string told;
  Trainer trainer(options, [&](const std::string& text) { told += text + "\n"; });
  EXPECT_THAT(told, AllOf(HasSubstr("cpu:1 takes the place of cuda:1000: "),
                          HasSubstr("item.conv on cpu:1 reads embedding copied from cpu:0")));
  trainer.Run([](const EpochReport&) {});
  EXPECT_EQ(trainer.losses(), Train(Options()).losses);
}

}  // namespace
}  // namespace recpack::train
