// Models of pictures over several devices: the same training as on one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recpack/base/error.h"
#include "src/train/cpu/cpu_ops.h"
#include "tests/train/small_cifar.h"
#include "tests/train/train_run.h"

namespace recpack::train {
namespace {

using testing::HasSubstr;

constexpr uint32_t kPictures = 8;  // of a batch
constexpr uint64_t kSteps = 3;     // of an epoch

TrainerOptions PlacedOptions(const std::string& model, const std::string& devices = "cpu:0",
                             const std::string& place = "one") {
  static const SmallCifar data(24);
  TrainerOptions options;
  options.data = data.folder();
  options.model = model;
  options.resnet.width = 4;
  options.vgg = {.depth = 11, .width = 4, .dense = 16};
  options.googlenet.width = 8;
  options.alexnet = {.filters = 4, .dense = 16};
  options.devices = ParseDevices(devices);
  options.place = place;
  options.threads = 1;
  options.batch_size = kPictures;
  options.epochs = 2;
  options.optimizer.rate = 0.02;
  return options;
}

TEST(PlacedPictures, GiveTheLossesOfOneDeviceWithTheCopiesOfTheGraph) {
  const struct {
    const char* model;
    const char* devices;
    const char* place;
    uint64_t copies;  // per step, counted by hand
  } cases[] = {       // Forward, and the gradient in two parts: through the block and around it.
               {"resnet", "cpu:0,cpu:1", "layer2.1=cpu:1", 3 + 3},
               {"resnet", "cpu:0,cpu:1", "layer3=cpu:1,layer4=cpu:1", 3 + 2},
               // The pictures and the labels, whose gradient nobody needs, and one border.
               {"resnet", "cpu:0,cpu:1", "conv1=cpu:1,loss=cpu:1", 1 + 2 + 2 + 1},
               {"alexnet", "cpu:0,cpu:1", "classifier=cpu:1", 2 + 2},
               {"alexnet", "cpu:0,cpu:1,cpu:2", "features=cpu:1,classifier=cpu:2", 1 + 2 + 2 + 2},
               {"alexnet", "cpu:0", "alternate", 0},
               {"vgg", "cpu:0,cpu:1", "features.4=cpu:1", 4},
               {"googlenet", "cpu:0,cpu:1", "inception4a=cpu:1,inception5b=cpu:1", 8}};
  for (const auto& of : cases) {
    SCOPED_TRACE(std::string(of.model) + " " + of.devices + " " + of.place);
    const Ran placed = Train(PlacedOptions(of.model, of.devices, of.place));
    ExpectSameTraining(placed, Train(PlacedOptions(of.model)));
    for (const EpochReport& epoch : placed.epochs) {
      EXPECT_EQ(epoch.transfers.calls, of.copies * kSteps);
    }
  }
}

TEST(PlacedPictures, EveryOperationCanBeOnAnotherDeviceThanTheOneBefore) {
  for (const char* model : {"resnet", "resnet50", "alexnet", "vgg", "googlenet"}) {
    SCOPED_TRACE(model);
    TrainerOptions alone = PlacedOptions(model),
                   placed = PlacedOptions(model, "cpu:0,cpu:1", "alternate");
    alone.epochs = placed.epochs = 1;
    ExpectSameTraining(Train(placed), Train(alone));
  }
}

TEST(PlacedPictures, EveryFormGivesTheLossesOfOneDevice) {
  for (const ElementType type : {ElementType::kF32, ElementType::kBf16}) {
    if (!MakeCpuOps()->Computes(type)) continue;
    for (const ImageLayout layout : {ImageLayout::kNhwc, ImageLayout::kNchw}) {
      for (const char* model : {"resnet", "alexnet"}) {
        TrainerOptions alone = PlacedOptions(model),
                       placed = PlacedOptions(model, "cpu:0,cpu:1", "alternate");
        for (TrainerOptions* options : {&alone, &placed}) {
          options->type = type;
          options->layout = layout;
          options->epochs = 1;
        }
        ExpectSameTraining(Train(placed), Train(alone));
      }
    }
  }
}

TEST(PlacedPictures, GoOnFromACheckpointOfAnotherPlacement) {
  for (const char* model : {"resnet", "vgg"}) {
    const Ran whole = Train(PlacedOptions(model));
    ExpectResumes(PlacedOptions(model), PlacedOptions(model, "cpu:0,cpu:1", "alternate"), whole);
    ExpectResumes(PlacedOptions(model, "cpu:0,cpu:1", "alternate"), PlacedOptions(model), whole);
  }
}

TEST(PlacedPictures, AreNotSplitWithinABlock) {
  EXPECT_THAT(MessageOf(PlacedOptions("resnet", "cpu:0,cpu:1", "layer1.0.conv2=cpu:1")),
              HasSubstr("layer1.0.conv2 is inside layer1.0, which cannot be split"));
  EXPECT_THAT(MessageOf(PlacedOptions("googlenet", "cpu:0,cpu:1", "inception3a.branch2=cpu:1")),
              HasSubstr("place inception3a as a whole"));
  EXPECT_THAT(MessageOf(PlacedOptions("alexnet", "cpu:0,cpu:1", "conv1=cpu:1")),
              AllOf(HasSubstr("no part 'conv1'"), HasSubstr("features, flatten, classifier")));
}

TEST(PlacedPictures, EndWithTheFirstLayerOfNumbersThatAreNone) {
  TrainerOptions options = PlacedOptions("resnet", "cpu:0,cpu:1", "alternate");
  options.optimizer.rate = 1e30;
  options.warmup_epochs = 0;
  EXPECT_THAT(MessageOf(options), HasSubstr("is not a number; the first layer"));
  options = PlacedOptions("vgg", "cpu:0,cpu:1", "loss=cpu:1");
  options.pictures.classes = 2;
  EXPECT_THAT(MessageOf(options), AllOf(HasSubstr("labels of step 0"), HasSubstr("0 to 1")));
}

TEST(PlacedPictures, AreLoggedAndReplaceDevicesThatAreNotThere) {
  TrainerOptions options = PlacedOptions("resnet", "cpu:0,cuda:1000", "layer4=cuda:1000");
  options.soft_placement = options.log_placement = true;
  std::string told;
  Trainer trainer(options, [&](const std::string& text) { told += text + "\n"; });
  EXPECT_THAT(told, AllOf(HasSubstr("cpu:1 takes the place of cuda:1000: "),
                          HasSubstr("layer4.0 on cpu:1 reads layer3.1 copied from cpu:0\n"),
                          HasSubstr("avgpool on cpu:0 reads layer4.1 copied from cpu:1\n"),
                          HasSubstr("loss on cpu:0 reads fc there, label there\n")));
  trainer.Run([](const EpochReport&) {});
  EXPECT_EQ(trainer.losses(), Train(PlacedOptions("resnet")).losses);
  told.clear();
  options = PlacedOptions("resnet", "cpu:0,cpu:1");
  options.log_placement = true;
  const Trainer whole(options, [&](const std::string& text) { told += text + "\n"; });
  EXPECT_THAT(told, HasSubstr("layer4.0 on cpu:0, cpu:1 reads layer3.1 there\n"));
}

}  // namespace
}  // namespace recpack::train
