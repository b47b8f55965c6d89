#include "recpack/loader/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/loader/loader.h"
#include "tests/base/error_of.h"
#include "tests/loader/small_split.h"

namespace recpack {
namespace {

using testing::HasSubstr;

class AuditTest : public testing::Test {
 protected:
  LoaderOptions Options(LastBatch last = LastBatch::kKeep, uint32_t batch = 4) const {
    return {.fields = {IdField{}},
            .batch_size = batch,
            .order = ParseOrder("global"),
            .seed = 3,
            .last_batch = last,
            .threads = 2,
            .audit_counts = true};
  }

  // Audits of all ranks for an epoch.
  std::vector<EpochAudit> Run(const Mixture& samples, LoaderOptions options, uint32_t world) const {
    std::vector<EpochAudit> audits;
    options.world_size = world;
    for (options.rank = 0; options.rank < world; ++options.rank) {
      Loader loader(samples, options);
      while (loader.Next()) {
      }
      audits.push_back(loader.audit());
    }
    return audits;
  }

  static EpochAudit Merged(const std::vector<EpochAudit>& audits) {
    EpochAudit all = audits.front();
    for (size_t i = 1; i < audits.size(); ++i) all.Merge(audits[i]);
    return all;
  }

  SmallSplit split_{70};
  Dataset dataset_ = Dataset::Open(split_.folder());
  View balanced_ = View::ClassBalanced(dataset_, "class");
  Mixture mixture_{{{dataset_, 2}, {View::Subset(dataset_, {1, 2, 3}), 1}}, {.period = 10}};
};

TEST_F(AuditTest, RanksTogetherHoldTheEpoch) {
  for (const Mixture& samples : {Mixture(dataset_), Mixture(balanced_), mixture_}) {
    EpochAudit one;
    for (const LastBatch last : {LastBatch::kKeep, LastBatch::kPad, LastBatch::kDrop}) {
      for (uint32_t world = 1; world <= 4; ++world) {
        const EpochAudit all = Merged(Run(samples, Options(last), world));
        const AuditReport report = CheckAudit(samples, all);
        EXPECT_TRUE(report.holds) << world << " " << static_cast<int>(last);
        EXPECT_EQ(report.differing, 0u);
        EXPECT_EQ(report.epoch_samples, samples.samples());
        EXPECT_EQ(report.samples, last == LastBatch::kDrop
                                      ? samples.samples() / (4 * world) * (4 * world)
                                      : samples.samples());
        if (last == LastBatch::kDrop) continue;
        if (one.samples() == 0) one = all;
        EXPECT_EQ(all, one) << "whatever the ranks";
      }
    }
  }
}

TEST_F(AuditTest, ARankThatIsMissingOrTwiceThereShows) {
  const auto audits = Run(dataset_, Options(), 3);
  EXPECT_FALSE(CheckAudit(dataset_, Merged({audits[0], audits[1]})).holds);
  const AuditReport report = CheckAudit(dataset_, Merged({audits[0], audits[1], audits[1]}));
  EXPECT_FALSE(report.holds);
  EXPECT_GT(report.differing, 20u);
  const AuditReport more = CheckAudit(dataset_, Merged({audits[0], Merged(audits)}));
  EXPECT_FALSE(more.holds);
  EXPECT_EQ(more.differing, audits[0].samples());
  EXPECT_THAT(ErrorOf([&] { ExpectedAudit(dataset_, audits[0].key(), 71); }).what(),
              HasSubstr("no 71 samples in an epoch of 70"));
}

TEST_F(AuditTest, NamesWhatIsMissingAndWhatCameAgain) {
  const EpochAudit whole = Merged(Run(dataset_, Options(), 1));
  EpochAudit audit(whole.key());
  audit.KeepCounts(dataset_);
  for (uint64_t id = 0; id < 70; ++id) audit.Add(0, id == 12 || id == 50 ? 33 : id);
  const AuditReport report = CheckAudit(dataset_, audit);
  EXPECT_FALSE(report.holds);
  EXPECT_EQ(report.differing, 3u);
  ASSERT_EQ(report.differences.size(), 3u);
  EXPECT_EQ(report.differences[0].id, 12u);
  EXPECT_EQ(report.differences[0].delivered, 0u);
  EXPECT_EQ(report.differences[1].id, 33u);
  EXPECT_EQ(report.differences[1].delivered, 3u);
  EXPECT_EQ(report.differences[2].id, 50u);
  EXPECT_EQ(CheckAudit(dataset_, audit, 1).differences.size(), 1u);
}

TEST_F(AuditTest, SubstitutionsAreAccountedFor) {
  split_.Damage(12);
  split_.Damage(50);
  LoaderOptions options = Options();
  options.on_bad_record = OnBadRecord::kSubstitute;
  options.max_bad_share = 1;
  const EpochAudit audit = Merged(Run(dataset_, options, 3));
  EXPECT_EQ(audit.substituted(), 2u);
  const AuditReport report = CheckAudit(dataset_, audit);
  EXPECT_TRUE(report.holds);
  EXPECT_NE(audit.sum(), audit.SumMeant());
  EXPECT_GE(report.differing, 3u);  // both bad records and their substitutes
}

// The audit of a run that ended by too many bad records covers the batches that were delivered.
TEST_F(AuditTest, HoldsBehindABatchThatHasTooManyBadRecords) {
  for (uint64_t id = 0; id < 70; id += 3) split_.Damage(id);
  LoaderOptions options = Options();
  options.on_bad_record = OnBadRecord::kSubstitute;
  options.max_bad_share = 0.1;
  Loader loader(dataset_, options);
  uint64_t given = 0;
  const Error error = ErrorOf([&] {
    while (const auto batch = loader.Next()) given += batch->size();
  });
  EXPECT_THAT(error.what(), HasSubstr("8 bad records in epoch 0"));
  ASSERT_GT(given, 0u);
  EXPECT_LT(given, 70u);
  const AuditReport report = CheckAudit(dataset_, loader.audit());
  EXPECT_TRUE(report.holds);
  EXPECT_EQ(report.samples, given);
  EXPECT_LE(report.substituted, 7u);

  options.max_bad_share = 1;
  options.resume = loader.Token();
  options.audit = loader.audit();
  Loader rest(dataset_, options);
  while (rest.Next()) {
  }
  const AuditReport whole = CheckAudit(dataset_, rest.audit());
  EXPECT_TRUE(whole.holds);
  EXPECT_EQ(whole.samples, 70u);
  EXPECT_EQ(whole.substituted, 24u);
}

TEST_F(AuditTest, GoesOnAcrossARestartOfOtherRanks) {
  for (const Mixture& samples : {Mixture(dataset_), mixture_}) {
    const EpochAudit expected = Merged(Run(samples, Options(), 1));
    for (size_t cut = 1; cut < 4; ++cut) {
      std::vector<EpochAudit> saved;
      LoaderOptions options = Options();
      options.world_size = 4;
      std::string token;
      for (options.rank = 0; options.rank < 4; ++options.rank) {
        Loader loader(samples, options);
        token = Take(loader, cut).back().token;
        const EpochAudit then = loader.audit();
        loader.Next();  // lost with the killed run
        saved.push_back(then);
      }
      LoaderOptions later = Options(LastBatch::kKeep, 5);
      later.resume = token;
      later.world_size = 3;
      std::vector<EpochAudit> audits;
      for (later.rank = 0; later.rank < 3; ++later.rank) {
        later.audit.reset();
        if (later.rank == 1) later.audit = EpochAudit::Parse(Merged(saved).Text());
        later.audit_counts = later.rank == 0;
        Loader loader(samples, later);
        while (loader.Next()) {
        }
        audits.push_back(loader.audit());
      }
      const EpochAudit all = Merged(audits);
      EXPECT_EQ(all.sum(), expected.sum());
      EXPECT_EQ(all.samples(), expected.samples());
      EXPECT_FALSE(all.has_counts());
      EXPECT_TRUE(CheckAudit(samples, all).holds) << cut;
    }
  }
}

TEST_F(AuditTest, StaysAtTheEndOfAnEpochUntilTheNextBatch) {
  Loader loader(dataset_, Options(LastBatch::kKeep, 30));
  Take(loader, 3);
  EXPECT_FALSE(loader.Next());
  const EpochAudit first = loader.audit();
  EXPECT_EQ(first.key().epoch, 0u);
  EXPECT_EQ(first.samples(), 70u);

  LoaderOptions options = Options(LastBatch::kKeep, 30);
  options.resume = loader.Token();
  options.audit = first;
  Loader resumed(dataset_, options);
  EXPECT_EQ(resumed.audit(), first);
  Take(resumed, 1);
  EXPECT_EQ(resumed.audit().key().epoch, 1u);
  EXPECT_EQ(resumed.audit().samples(), 30u);
  Take(loader, 1);
  EXPECT_EQ(loader.audit(), resumed.audit());
}

TEST_F(AuditTest, ALoaderRefusesAnotherRunsAudit) {
  Loader loader(dataset_, Options(LastBatch::kKeep, 30));
  Take(loader, 1);
  LoaderOptions options = Options(LastBatch::kKeep, 30);
  options.resume = loader.Token();
  const auto reason = [&](const EpochAudit& audit, bool counts = false) {
    options.audit = audit;
    options.audit_counts = counts;
    return std::string(ErrorOf([&] { Loader(dataset_, options); }).what());
  };
  Take(loader, 1);
  EXPECT_THAT(reason(loader.audit()), HasSubstr("has 60 samples, the token comes after 30"));
  AuditKey key = loader.audit().key();
  key.seed = 4;
  EXPECT_THAT(reason(EpochAudit(key)), HasSubstr("differ in their seed"));
  EXPECT_THAT(reason(EpochAudit(loader.audit().key()), true), HasSubstr("no counts"));
  EXPECT_THAT(ErrorOf([&] { CheckAudit(balanced_, loader.audit()); }).what(),
              HasSubstr("another data set"));
}

TEST_F(AuditTest, LinesAndFilesGoThereAndBack) {
  const EpochAudit audit = Merged(Run(mixture_, Options(), 2));
  const std::string text = audit.Text();
  EXPECT_LT(text.size(), 300u);
  EXPECT_EQ(EpochAudit::Parse(text).Text(), text);
  for (size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = changed[i] == '1' ? '2' : '1';
    EXPECT_THROW(EpochAudit::Parse(changed), Error) << changed;
    EXPECT_THROW(EpochAudit::Parse(text.substr(0, i)), Error);
  }

  const std::string path = split_.folder() + "/audit";
  EpochAudit::Parse(text).Save(path);
  EXPECT_FALSE(EpochAudit::Load(path).has_counts());
  audit.Save(path);
  EXPECT_EQ(EpochAudit::Load(path), audit);
  const ByteBuffer bytes = ReadWholeFile(PosixFiles(), path);
  for (size_t i = 0; i < bytes.size(); ++i) {
    ByteBuffer cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(i));
    WriteFileAtomically(PosixFiles(), path, cut, false);
    if (i != text.size() + 1) {  // at this length the file is valid without counts
      EXPECT_EQ(ErrorOf([&] { EpochAudit::Load(path); }).place().path, path) << i;
    }
    ByteBuffer changed = bytes;
    changed[i] ^= 1;
    WriteFileAtomically(PosixFiles(), path, changed, false);
    EXPECT_EQ(ErrorOf([&] { EpochAudit::Load(path); }).place().path, path) << i;
  }
}

TEST(Sum128, CarriesAndBorrows) {
  Sum128 sum{~uint64_t{0}, 1};
  sum += {1, 0};
  EXPECT_EQ(sum, (Sum128{0, 2}));
  sum -= {1, 0};
  EXPECT_EQ(sum, (Sum128{~uint64_t{0}, 1}));
  sum -= {0, 2};
  EXPECT_EQ(sum, (Sum128{~uint64_t{0}, ~uint64_t{0}}));
}

TEST(AuditHash, IsFrozen) {
  EXPECT_EQ(AuditHash(0, 0), (Sum128{0xf12453e959c5b5d6, 0x1af158d113f6198f}));
  EXPECT_EQ(AuditHash(3, uint64_t{1} << 40 | 5), (Sum128{0xf1e6b2cbefb5f67d, 0xefa57b5162220e77}));
}

}  // namespace
}  // namespace recpack
