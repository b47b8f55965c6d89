#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "src/base/format.h"
#include "src/train/checkpoint/checkpoint.h"
#include "tests/train/small_cifar.h"
#include "tests/train/small_reviews.h"
#include "tests/train/train_run.h"

namespace recpack::train {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Detection of NaN and infinity, and the reported place.
struct Case {
  std::string model;
  std::string variable;  // its first value is NaN
  std::string layer;
};

void PrintTo(const Case& of, std::ostream* out) { *out << of.model << ", " << of.variable; }

using Contents = std::map<std::string, ByteBuffer>;

Contents ContentsOf(const std::string& folder) {
  Contents contents;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    contents[entry.path()] = ReadWholeFile(PosixFiles(), entry.path());
  }
  return contents;
}

std::string Latest(const Contents& contents) { return contents.rbegin()->first; }

// The checkpoint with a NaN in it.
void Spoil(const std::string& path, const std::string& variable) {
  const Checkpoint read = ReadCheckpoint(PosixFiles(), path);
  const NamedArray* const found = read.stored.Find(variable);
  ASSERT_NE(found, nullptr) << variable;
  std::vector<float> values(found->bytes() / sizeof(float));
  std::memcpy(values.data(), found->data, found->bytes());
  values[0] = std::nanf("");
  std::vector<NamedArray> arrays = read.stored.arrays;
  for (NamedArray& array : arrays) {
    if (array.name == variable) array.data = values.data();
  }
  WriteCheckpoint(PosixFiles(), path, read.info, arrays, false);
}

class NotANumber : public testing::TestWithParam<Case> {
 protected:
  NotANumber() {
    options_.data = GetParam().model == "deepconn" ? reviews_.folder() : pictures_.folder();
    options_.model = GetParam().model;
    options_.resnet.width = 8;
    options_.alexnet = {.filters = 8, .dense = 32};
    options_.deepconn = {.max_tokens = 64, .dims = 16, .filters = 32, .latent = 16, .factors = 8};
    options_.threads = 1;
    options_.batch_size = 16;
    options_.epochs = 1;
    options_.schedule_epochs = 2;
    options_.checkpoints = folder_.path();
    Train(options_);
    options_.epochs = 2;
    options_.checkpoint_steps = 1;
    options_.resume = folder_.path();
  }

  const SmallCifar pictures_{200};
  const SmallReviews reviews_{300};
  const TemporaryFolder folder_;
  TrainerOptions options_;
};

TEST_P(NotANumber, StopsTheRunWithStepLayerAndToken) {
  const std::string latest = Latest(ContentsOf(folder_.path()));
  const CheckpointInfo info = ReadCheckpoint(PosixFiles(), latest).info;
  Spoil(latest, GetParam().variable);
  const Contents before = ContentsOf(folder_.path());
  const std::string message = MessageOf(options_);
  EXPECT_THAT(message, AllOf(HasSubstr(format("the loss of step {} is not a number", info.step)),
                             HasSubstr(format("such numbers is {};", GetParam().layer)),
                             HasSubstr("the batch's token is recpack1.")));
  EXPECT_EQ(ContentsOf(folder_.path()), before) << "nothing is written over";
}

// The loss of the step whose update produces it is still finite.
TEST_P(NotANumber, IsKeptInNoCheckpoint) {
  const std::string latest = Latest(ContentsOf(folder_.path()));
  const CheckpointInfo info = ReadCheckpoint(PosixFiles(), latest).info;
  const std::string slot = GetParam().model == "deepconn" ? "first_moment" : "momentum";
  Spoil(latest, format("optimizer.{}/{}", slot, GetParam().variable));
  const Contents before = ContentsOf(folder_.path());
  EXPECT_THAT(MessageOf(options_),
              AllOf(HasSubstr(format("step {} is not saved", info.step + 1)),
                    HasSubstr(format("'{}' is NaN or infinite", GetParam().variable)),
                    HasSubstr(folder_.path())));
  EXPECT_EQ(ContentsOf(folder_.path()), before) << "nothing is written over";
}

INSTANTIATE_TEST_SUITE_P(Layers, NotANumber,
                         testing::Values(Case{"resnet", "conv1.weight", "conv1"},
                                         Case{"resnet", "layer1.0.conv2.weight", "layer1.0.conv2"},
                                         Case{"resnet", "bn1.weight", "bn1"},
                                         Case{"resnet", "fc.weight", "fc"},
                                         Case{"alexnet", "features.0.weight", "features.0"},
                                         Case{"alexnet", "features.3.bias", "features.3"},
                                         Case{"alexnet", "classifier.0.weight", "classifier.0"},
                                         Case{"alexnet", "classifier.4.weight", "classifier.4"},
                                         Case{"deepconn", "user.conv.weight", "user.conv"},
                                         Case{"deepconn", "item.fc.weight", "item.fc"},
                                         Case{"deepconn", "fm.factors", "fm"}));

}  // namespace
}  // namespace recpack::train
