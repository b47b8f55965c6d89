// Holds the loader to it that after any single change of any file of a data set it gives the same
// batches, an error, or substitutions that it tells of; never other batches. So does one that goes
// on from a token of before, and an audit says of it what is true.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "recpack/base/error.h"
#include "recpack/loader/audit.h"
#include "recpack/loader/loader.h"
#include "recpack/record/framing.h"
#include "recpack/record/index.h"
#include "src/pack/check/repair.h"
#include "src/pack/job/pack.h"
#include "src/shards/layout/layout.h"
#include "tests/base/temporary_folder.h"
#include "tests/pack/fake_source.h"

namespace recpack {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kRecords = 150;
constexpr size_t kNumbers = 4;
constexpr int kChanges = 700;  // of each data set for each property

std::array<int64_t, kNumbers> NumbersOf(uint64_t id) {
  const auto n = static_cast<int64_t>(id);
  return {n, n * 7919 + 3, n ^ 0x5A5A, n * n};
}

// Records that hold NumbersOf() their ordinal, and a text so that lengths differ unless `fixed`.
class NumberedSource final : public pack::FakeSource {
 public:
  explicit NumberedSource(bool fixed) : pack::FakeSource({{"train", kRecords}}), fixed_(fixed) {}
  std::unique_ptr<pack::ItemReader> NewReader() const override {
    return std::make_unique<Reader>(fixed_);
  }
  bool sorted_by_class() const override { return false; }

 private:
  class Reader final : public pack::ItemReader {
   public:
    explicit Reader(bool fixed) : fixed_(fixed) {}
    void Read(size_t, uint64_t item, pack::Sample& sample) override {
      const auto numbers = NumbersOf(item);
      text_.assign(fixed_ ? 40 : item % 97 + 3, static_cast<char>('a' + item % 26));
      sample.features.AddBytes("text", AsBytes(text_));
      values_.clear();
      for (const int64_t number : numbers) values_.push_back(static_cast<float>(number));
      sample.features.AddFloatList("numbers", values_);
      sample.label = static_cast<int64_t>(item % 2);
    }

   private:
    bool fixed_;
    std::string text_;
    std::vector<float> values_;
  };

  bool fixed_;
};

struct Kind {
  std::string name;
  bool fixed;
  Compression compression;
  bool manifest;
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

using Files = std::map<std::string, ByteBuffer>;

Files ReadAll(const std::string& folder) {
  Files files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files[entry.path()] = ReadWholeFile(PosixFiles(), entry.path());
  }
  return files;
}

using Random = std::mt19937_64;

size_t Below(Random& random, size_t end) { return end == 0 ? 0 : random() % end; }

// A stretch of a file: mostly short, sometimes long.
std::pair<size_t, size_t> Stretch(Random& random, size_t size) {
  const size_t begin = Below(random, size);
  const size_t most = Below(random, 4) == 0 ? size : 24;
  return {begin, std::min(size, begin + 1 + Below(random, most))};
}

// Copies a whole frame over another one of the same length, if the file has such frames.
void CopyRecord(Random& random, ByteBuffer& bytes) {
  std::map<uint64_t, std::vector<size_t>> frames;  // offsets by length
  for (size_t at = 0; at + kFrameBytes <= bytes.size() && FrameHeaderHolds(bytes.data() + at);) {
    const uint64_t length = FrameLength(bytes.data() + at);
    frames[length].push_back(at);
    at += length + kFrameBytes;
  }
  for (const auto& [length, offsets] : frames) {
    if (offsets.size() < 2) continue;
    const auto from =
        bytes.begin() + static_cast<ptrdiff_t>(offsets[Below(random, offsets.size())]);
    const auto to = bytes.begin() + static_cast<ptrdiff_t>(offsets[Below(random, offsets.size())]);
    if (from != to) std::copy_n(from, length + kFrameBytes, to);
  }
}

// Changes one file; says how. Nothing where the change leaves the file as it is.
std::string Change(Random& random, const Files& files, const std::string& path) {
  const ByteBuffer& old = files.at(path);
  ByteBuffer bytes = old;
  const auto [begin, end] = Stretch(random, bytes.size());
  const auto at = [&](size_t i) { return bytes.begin() + static_cast<ptrdiff_t>(i); };
  const auto another =
      std::next(files.begin(), static_cast<ptrdiff_t>(Below(random, files.size())));
  std::string how;
  switch (Below(random, 13)) {
    case 0:
      how = "is emptied";
      bytes.clear();
      break;
    case 1:
      how = "is removed";
      fs::remove(path);
      return how;
    case 2:
      how = "is cut at " + std::to_string(begin);
      bytes.resize(begin);
      break;
    case 3:
      how = "is replaced by " + another->first;
      bytes = another->second;
      break;
    case 4:
      how = "has zeros";
      std::fill(at(begin), at(end), uint8_t{0});
      break;
    case 5:
      how = "has a stretch twice";
      bytes.insert(at(end), old.begin() + static_cast<ptrdiff_t>(begin),
                   old.begin() + static_cast<ptrdiff_t>(end));
      break;
    case 6:
      how = "lacks a stretch";
      bytes.erase(at(begin), at(end));
      break;
    case 7:
      how = "has a stretch of another place";
      std::copy_n(
          old.begin() + static_cast<ptrdiff_t>(Below(random, old.size() - (end - begin) + 1)),
          end - begin, at(begin));
      break;
    case 8:
      how = "has bytes more at its end";
      bytes.insert(bytes.end(), 1 + Below(random, 40), static_cast<uint8_t>(random()));
      break;
    case 9:
      how = "has a digit changed";  // text that still parses, or a byte of any other file
      if (auto digit =
              std::find_if(at(begin), bytes.end(), [](uint8_t c) { return c >= '0' && c <= '9'; });
          digit != bytes.end()) {
        *digit = static_cast<uint8_t>('0' + Below(random, 10));
      }
      break;
    case 10:
      how = "has a bit flipped";
      if (!bytes.empty()) bytes[begin] ^= static_cast<uint8_t>(1U << Below(random, 8));
      break;
    case 11:
      how = "has a record copied over another of its length";
      CopyRecord(random, bytes);
      break;
    default:
      how = "has random bytes";
      for (size_t i = begin; i < end; ++i) bytes[i] = static_cast<uint8_t>(random());
  }
  if (bytes == old) return {};
  WriteFileAtomically(PosixFiles(), path, bytes, false);
  return how + ", bytes " + std::to_string(begin) + " to " + std::to_string(end);
}

LoaderOptions ChangedDataOptions(OnBadRecord on_bad_record) {
  return {
      .fields = {NumbersField{.name = "numbers", .type = ElementType::kF32, .length = kNumbers}},
      .batch_size = 16,
      .order = ParseOrder("window:2:40:8"),
      .seed = 3,
      .last_batch = LastBatch::kKeep,
      .threads = 1,
      .prefetch = 2,
      .on_bad_record = on_bad_record,
      .max_bad_share = 1};
}

enum class Outcome { kSame, kError, kSubstituted };

// What a loader gave until its epoch ended or it failed.
struct Given {
  uint64_t first = 0;         // position in the epoch
  std::vector<uint64_t> ids;  // from there on
  std::vector<std::vector<float>> numbers;
  std::vector<Substitution> substituted;
  EpochAudit audit;
  std::optional<Error> error;

  Outcome outcome() const {
    if (error) return Outcome::kError;
    return substituted.empty() ? Outcome::kSame : Outcome::kSubstituted;
  }
};

class ChangedData : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    pack::PackOptions options;
    options.out = out_;
    options.sync = false;
    options.plan.shards = 3;
    options.writer.digest = true;
    options.writer.compression = GetParam().compression;
    options.writer.flush_interval = 700;
    pack::Pack(NumberedSource(GetParam().fixed), options);
    if (!GetParam().manifest) {
      fs::remove(out_ + "/manifest.json");
      fs::remove_all(out_ + "/.recpack");
    }
    files_ = ReadAll(out_);
    intact_.emplace(Open());
    LoaderOptions counting = ChangedDataOptions(OnBadRecord::kFail);
    counting.audit_counts = true;
    Loader loader(*intact_, counting);
    content_.resize(kRecords);
    Save(loader);
    while (const auto batch = loader.Next()) {
      const float* numbers = batch->Data<float>("numbers");
      for (uint32_t i = 0; i < batch->size(); ++i) {
        order_.push_back(batch->ids()[i]);
        content_[order_.back()] = {numbers + i * kNumbers, numbers + (i + 1) * kNumbers};
      }
      Save(loader);
    }
    ASSERT_EQ(order_.size(), kRecords);
    ASSERT_EQ(std::set<std::vector<float>>(content_.begin(), content_.end()).size(), kRecords);
  }

  // Where a run may have been killed, and what it had saved then.
  struct Saved {
    std::string token;
    EpochAudit audit;
  };

  void Save(const Loader& loader) { saved_.push_back({loader.Token(), loader.audit()}); }

  Dataset Open() const { return Dataset::Open(out_, {.split = "train"}); }

  std::vector<std::string> ShardPaths() const {
    std::vector<std::string> paths;
    for (const auto& [path, bytes] : files_) {
      if (path.starts_with(out_ + "/train-")) paths.push_back(path);
    }
    return paths;
  }

  void Restore(const std::string& path) {
    WriteFileAtomically(PosixFiles(), path, files_.at(path), false);
  }

  // What is there now, from position `first` on.
  Given Take(const LoaderOptions& options, uint64_t first) {
    Given given{.first = first};
    std::optional<Loader> loader;
    try {
      loader.emplace(Open(), options);
      while (const auto batch = loader->Next()) {
        const float* numbers = batch->Data<float>("numbers");
        for (uint32_t i = 0; i < batch->size(); ++i) {
          given.ids.push_back(batch->ids()[i]);
          given.numbers.emplace_back(numbers + i * kNumbers, numbers + (i + 1) * kNumbers);
        }
      }
    } catch (const Error& error) {
      given.error = error;
    }
    if (loader) {
      given.substituted = loader->substitutions();
      given.audit = loader->audit();
    }
    return given;
  }

  // Holds it to the reference: also what came before an error is the same or told.
  void ExpectSameOrTold(const Given& given) {
    std::set<std::pair<uint64_t, uint64_t>> told;  // position, taken
    for (const auto& one : given.substituted) told.emplace(one.position, one.taken);
    if (given.error) {
      EXPECT_FALSE(given.error->reason().empty());
      EXPECT_LE(given.first + given.ids.size(), kRecords);
    } else {
      EXPECT_EQ(given.first + given.ids.size(), kRecords);
    }
    for (size_t i = 0; i < std::min(given.ids.size(), kRecords - given.first); ++i) {
      const uint64_t position = given.first + i, id = given.ids[i];
      EXPECT_TRUE(id == order_[position] || told.contains({position, id})) << position;
      EXPECT_TRUE(id < kRecords && given.numbers[i] == content_[id]) << position;
    }
  }

  // The verdict on what was given, and on the first `before` positions of the epoch besides, is
  // true: in it each record came as often as it should, but for what is told to be substituted.
  void ExpectTrueVerdict(const EpochAudit& audit, uint64_t before, const Given& given) {
    std::vector<int> came(kRecords), should(kRecords);
    for (uint64_t i = 0; i < before; ++i) ++came[order_[i]];
    for (const uint64_t id : given.ids) ++came[id];
    const uint64_t samples = before + given.ids.size();
    for (uint64_t i = 0; i < std::min(samples, kRecords); ++i) ++should[order_[i]];
    std::vector<int> meant = came;
    uint64_t substituted = 0;
    for (const Substitution& one : given.substituted) {
      if (one.position >= given.first + given.ids.size()) continue;  // of a batch that failed
      ++substituted;
      --meant[one.taken];
      ++meant[one.bad];
    }
    const AuditReport report = CheckAudit(*intact_, audit, kRecords, 1);
    EXPECT_EQ(report.samples, samples);
    EXPECT_EQ(report.epoch_samples, kRecords);
    EXPECT_EQ(report.substituted, substituted);
    EXPECT_EQ(report.holds, samples <= kRecords && meant == should);
    if (report.holds && report.samples == kRecords && report.substituted == 0) {  // "all is well"
      EXPECT_EQ(came, std::vector<int>(kRecords, 1));
    }
    if (!report.has_differences) return;
    std::vector<int> differing(kRecords);
    for (const auto& one : report.differences) {
      EXPECT_EQ(static_cast<int>(one.delivered), came[one.id]);
      differing[one.id] = 1;
    }
    for (uint64_t id = 0; id < kRecords; ++id) EXPECT_EQ(differing[id], came[id] != should[id]);
  }

  // The audit's file, itself changed, says the same or is refused.
  void ExpectSameAuditOrRefused(Random& random, const EpochAudit& audit) {
    const std::string path = folder_ / "rank0.audit";
    audit.Save(path);
    const EpochAudit loaded = EpochAudit::Load(path);
    EXPECT_EQ(loaded, audit);
    if (Change(random, {{path, ReadWholeFile(PosixFiles(), path)}}, path).empty()) return;
    try {
      const EpochAudit changed = EpochAudit::Load(path);
      EXPECT_EQ(changed.Text(), audit.Text());
      EXPECT_TRUE(!changed.has_counts() || changed == audit);  // the line alone is an audit, too
    } catch (const Error& error) {
      EXPECT_EQ(error.place().path, path);
    }
  }

  // What the data set as it is now says of an audit is what the intact one says, or an error.
  void ExpectSameVerdictOrRefused(const EpochAudit& audit) {
    const AuditReport expected = CheckAudit(*intact_, audit, 0, 1);
    try {
      const AuditReport report = CheckAudit(Open(), audit, 0, 1);
      EXPECT_EQ(report.holds, expected.holds);
      EXPECT_EQ(report.epoch_samples, expected.epoch_samples);
    } catch (const Error& error) {
      EXPECT_FALSE(error.reason().empty());
    }
  }

  // An epoch from its beginning.
  Outcome TryEpoch(const LoaderOptions& options) {
    const Given given = Take(options, 0);
    ExpectSameOrTold(given);
    return given.outcome();
  }

  // The rest of an epoch that was begun on the intact data set.
  Outcome TryResumed(LoaderOptions options, Random& random) {
    const size_t batches = Below(random, saved_.size());
    options.resume = saved_[batches].token;
    const uint64_t first = std::min<uint64_t>(batches * options.batch_size, kRecords);
    if (Below(random, 2) == 0) options.batch_size = 1 + static_cast<uint32_t>(Below(random, 40));
    const Given given = Take(options, first);
    ExpectSameOrTold(given);
    return given.outcome();
  }

  // The same with the audit that was saved with the token; sometimes with another one.
  Outcome TryAudited(LoaderOptions options, Random& random) {
    const size_t batches = Below(random, saved_.size());
    const size_t audited = Below(random, 8) == 0 ? Below(random, saved_.size()) : batches;
    const auto position = [&](size_t count) {
      return std::min<uint64_t>(count * options.batch_size, kRecords);
    };
    options.resume = saved_[batches].token;
    options.audit = saved_[audited].audit;
    options.audit_counts = Below(random, 2) == 0;
    const Given given = Take(options, position(batches));
    ExpectSameOrTold(given);
    if (given.audit.key().digest.empty()) return given.outcome();  // there was no loader
    EXPECT_LE(audited, batches) << "an audit of more than what was delivered was taken";
    ExpectTrueVerdict(given.audit, position(audited), given);
    ExpectSameVerdictOrRefused(given.audit);
    ExpectSameAuditOrRefused(random, given.audit);
    return given.outcome();
  }

  // Any single change, many times. `attempt`: what is done with the data set then.
  template <typename Attempt>
  void TryChanges(uint64_t first_seed, int changes, Attempt attempt) {
    std::vector<std::string> paths;
    for (const auto& [path, bytes] : files_) paths.push_back(path);
    std::map<Outcome, int> outcomes;
    int made = 0;
    for (uint64_t seed = first_seed; made < changes; ++seed) {
      Random random(seed);
      const std::string& path = paths[Below(random, paths.size())];
      const std::string how = Change(random, files_, path);
      if (how.empty()) continue;
      ++made;
      SCOPED_TRACE("seed " + std::to_string(seed) + ": " + path + ' ' + how);
      const bool substitutes = Below(random, 2) == 0;
      ++outcomes[attempt(
          ChangedDataOptions(substitutes ? OnBadRecord::kSubstitute : OnBadRecord::kFail), random)];
      Restore(path);
      if (HasFailure()) return;
    }
    // All three are seen often: the changes are neither all harmless nor all fatal.
    EXPECT_GT(outcomes[Outcome::kSame], made / 100);
    EXPECT_GT(outcomes[Outcome::kError], made / 10);
    EXPECT_GT(outcomes[Outcome::kSubstituted], made / 100);
  }

  TemporaryFolder folder_;
  std::string out_ = folder_ / "out";
  Files files_;
  std::optional<Dataset> intact_;            // has its index mapped, so it stays as it was
  std::vector<uint64_t> order_;              // ids by position
  std::vector<std::vector<float>> content_;  // by id
  std::vector<Saved> saved_;                 // by count of batches
};

TEST_P(ChangedData, NeverGivesOtherBatches) {
  TryChanges(0, kChanges, [&](const LoaderOptions& options, Random&) { return TryEpoch(options); });
}

TEST_P(ChangedData, NeverGoesOnWithOtherBatches) {
  TryChanges(1'000'000, kChanges, [&](const LoaderOptions& options, Random& random) {
    return TryResumed(options, random);
  });
}

TEST_P(ChangedData, NeverHasAnAuditThatIsNotTrue) {
  TryChanges(2'000'000, kChanges, [&](const LoaderOptions& options, Random& random) {
    return TryAudited(options, random);
  });
}

// What repair leaves of a damaged data set is another one: tokens and audits of before are refused.
TEST_P(ChangedData, TokensAndAuditsAreNotOfTheRepairedDataSet) {
  const std::string damaged = ShardPaths().at(1);
  ByteBuffer bytes = files_.at(damaged);
  bytes[bytes.size() / 2] ^= 1;
  WriteFileAtomically(PosixFiles(), damaged, bytes, false);
  const std::string saved = folder_ / "saved";
  ASSERT_LT(pack::Repair(FindLayout(out_), {.out = saved}).records, kRecords);
  fs::rename(out_, folder_ / "damaged");
  fs::rename(saved, out_);
  LoaderOptions options = ChangedDataOptions(OnBadRecord::kSubstitute);
  EXPECT_FALSE(Take(options, 0).error);
  options.resume = saved_[3].token;
  const Given given = Take(options, 48);
  ASSERT_TRUE(given.error);
  EXPECT_TRUE(given.error->reason().starts_with("the token belongs to another data set: "));
  EXPECT_THROW(CheckAudit(Open(), saved_[3].audit), Error);
}

// Where all records are of one length, every record of the shard below is whole and where the index
// has it: only the end of the file, which is cut off, would tell that they are another shard's
// (docs/decisions/0012-cut-shards.md).
TEST_P(ChangedData, AShardThatIsCutIsRefusedAsAWhole) {
  const std::vector<std::string> shards = ShardPaths();
  ASSERT_EQ(shards.size(), 3u);
  const uint64_t records = Index::Open(out_ + "/train.recindex").shard(0).records;
  LoaderOptions options = ChangedDataOptions(OnBadRecord::kSubstitute);
  options.order = ParseOrder("global");  // in a window there are only records of the same shard
  for (const std::string& from : {shards[0], shards[1]}) {
    for (const size_t cut : {1, 9, 60}) {
      ByteBuffer bytes = files_.at(from);
      bytes.resize(bytes.size() - cut);
      WriteFileAtomically(PosixFiles(), shards[0], bytes, false);
      const Given given = Take(options, 0);
      ASSERT_FALSE(given.error) << given.error->what();
      EXPECT_EQ(given.substituted.size(), records) << from << cut;
      for (const auto& one : given.substituted) EXPECT_LT(one.bad, records);
      for (size_t i = 0; i < given.ids.size(); ++i) {
        EXPECT_GE(given.ids[i], records);
        EXPECT_EQ(given.numbers[i], content_[given.ids[i]]);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ChangedData,
                         testing::Values(Kind{"plain", false, Compression::kNone, true},
                                         Kind{"fixed", true, Compression::kNone, true},
                                         Kind{"gzip", false, Compression::kGzip, true},
                                         Kind{"gzip_fixed", true, Compression::kGzip, true},
                                         Kind{"no_manifest", false, Compression::kNone, false}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace recpack
