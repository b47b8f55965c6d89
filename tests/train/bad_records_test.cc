#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "tests/train/small_cifar.h"
#include "tests/train/train_run.h"

namespace recpack::train {
namespace {

using testing::HasSubstr;

constexpr int kRecords = 200, kBatch = 16;

// Changes one byte of a record's image.
void Damage(const SmallCifar& data, int record) {
  const std::string path = format("{}/train-00000-of-00001.tfrecord", data.folder());
  const auto each = std::filesystem::file_size(path) / kRecords;
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(each) * record + 100);
  file.put('\xff');
}

class BadRecords : public testing::Test {
 protected:
  BadRecords() {
    for (const int record : {3, 77, 150, 151}) Damage(data_, record);
  }

  TrainerOptions Options(const std::string& ledger = {}) const {
    TrainerOptions options;
    options.data = data_.folder();
    options.resnet.width = 8;
    options.threads = 1;
    options.batch_size = kBatch;
    options.epochs = 2;
    options.on_bad_record = OnBadRecord::kSubstitute;
    options.max_bad_share = 0.1;
    options.ledger = ledger;
    return options;
  }

  // Without records that were only read ahead.
  static std::multiset<std::string> Lines(const std::string& ledger) {
    std::multiset<std::string> lines;
    std::ifstream file(ledger);
    for (std::string line; std::getline(file, line);) {
      if (!line.starts_with(R"({"epoch": 2)")) lines.insert(line);
    }
    return lines;
  }

  const SmallCifar data_{kRecords};
  const TemporaryFolder folder_;
  const std::string ledger_ = format("{}/ledger", folder_.path());
};

TEST_F(BadRecords, EndTheRunWhereNothingElseIsSaid) {
  TrainerOptions options = Options();
  options.on_bad_record = OnBadRecord::kFail;
  EXPECT_THAT(MessageOf(options),
              AllOf(HasSubstr("train-00000-of-00001.tfrecord"), HasSubstr("CRC")));
}

TEST_F(BadRecords, AreSubstitutedLedgeredAndAudited) {
  const Ran ran = Train(Options(ledger_));
  ASSERT_EQ(ran.epochs.size(), 2u);
  uint64_t substituted = 0;
  for (const EpochReport& epoch : ran.epochs) {
    ASSERT_TRUE(epoch.audit);
    EXPECT_TRUE(epoch.audit->holds);
    EXPECT_EQ(epoch.audit->samples, kRecords / kBatch * kBatch);
    EXPECT_EQ(epoch.audit->epoch_samples, kRecords);
    EXPECT_GE(epoch.audit->substituted, 2u);
    substituted += epoch.audit->substituted;
  }
  EXPECT_GE(Lines(ledger_).size(), substituted);
  EXPECT_LE(Lines(ledger_).size(), 8u);
}

TEST_F(BadRecords, MoreThanTheirShareEndTheRun) {
  TrainerOptions options = Options();
  options.max_bad_share = 0.005;
  EXPECT_THAT(MessageOf(options), HasSubstr("2 bad records in epoch 0, more than 0.005"));
}

// Checkpoints are in mid-epoch and at its end, with one device and with two.
TEST_F(BadRecords, AreLedgeredOnceAndAuditedByARunThatGoesOn) {
  for (const char* devices : {"cpu:0", "cpu:0,cpu:1"}) {
    SCOPED_TRACE(devices);
    TrainerOptions options = Options(ledger_);
    options.devices = ParseDevices(devices);
    options.batch_size = kBatch / static_cast<uint32_t>(options.devices.size());
    std::filesystem::remove(ledger_);
    const TemporaryFolder checkpoints;
    TrainerOptions first = options, rest = options;
    first.checkpoints = checkpoints.path();
    first.checkpoint_steps = 4;
    first.keep_checkpoints = 100;
    const Ran whole = Train(first);
    const auto lines = Lines(ledger_);
    for (const int64_t stopped : {4, 12, 16}) {
      SCOPED_TRACE(stopped);
      rest.resume = format("{}/step-{:08}.safetensors", checkpoints.path(), stopped);
      const Ran resumed = Train(rest);
      EXPECT_EQ(Lines(ledger_), lines) << "none is written twice";
      ASSERT_FALSE(resumed.epochs.empty());
      for (size_t i = 0; i < resumed.epochs.size(); ++i) {
        const auto& audit = resumed.epochs[resumed.epochs.size() - 1 - i].audit;
        const auto& expected = whole.epochs[1 - i].audit;
        ASSERT_TRUE(audit);
        EXPECT_TRUE(audit->holds);
        EXPECT_EQ(audit->samples, expected->samples);
        EXPECT_EQ(audit->substituted, expected->substituted);
      }
    }
  }
}

}  // namespace
}  // namespace recpack::train
