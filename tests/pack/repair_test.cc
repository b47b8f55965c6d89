#include "src/pack/check/repair.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/example/builder.h"
#include "recpack/record/index.h"
#include "recpack/record/writer.h"
#include "src/pack/check/verify.h"
#include "src/pack/job/pack.h"
#include "src/shards/index/build_index.h"
#include "tests/base/real_files.h"
#include "tests/base/temporary_folder.h"
#include "tests/pack/fake_source.h"

namespace recpack::pack {
namespace {

class RepairTest : public ::testing::Test {
 protected:
  void SetUp() override {
    PackOptions options;
    options.out = out_;
    options.sync = false;
    options.plan.shards = 2;
    options.writer.digest = true;
    Pack(FakeSource({{"train", 400}}), options);
  }

  // Overwrites one byte of a shard.
  void Damage(uint64_t offset, char byte) {
    std::fstream file(shard_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(byte);
  }

  RecordLocation Locate(uint64_t ordinal) {
    return Index::Open(out_ + "/train.recindex").Locate(ordinal);
  }

  TemporaryFolder folder_;
  std::string out_ = folder_ / "out";
  std::string shard_ = out_ + "/train-00000-of-00002.tfrecord";
};

TEST_F(RepairTest, AWholeDataSetVerifiesAndLosesNothing) {
  EXPECT_TRUE(Verify(FindLayout(out_), {}).findings.empty());
  const RepairResult result = Repair(FindLayout(out_), {.out = folder_ / "saved"});
  EXPECT_EQ(result.records, 400u);
  EXPECT_TRUE(result.lost.empty());
  EXPECT_TRUE(Verify(FindLayout(folder_ / "saved"), {}).findings.empty());
}

TEST_F(RepairTest, SavesAllButTheDamagedRecord) {
  Damage(Locate(20).offset + 15, '\x7e');
  const VerifyResult found = Verify(FindLayout(out_), {.threads = 2});
  ASSERT_EQ(found.findings.size(), 3u);  // the record, the count, the digest
  EXPECT_EQ(found.findings[0].ordinal, 20u);
  EXPECT_EQ(found.findings[0].offset, Locate(20).offset);
  EXPECT_EQ(found.records, 399u);

  const RepairResult result = Repair(FindLayout(out_), {.out = folder_ / "saved"});
  EXPECT_EQ(result.records, 399u);
  ASSERT_EQ(result.lost.size(), 1u);
  EXPECT_EQ(result.lost[0].records, 1u);
  EXPECT_EQ(result.lost[0].ordinal, 20u);
  const VerifyResult saved = Verify(FindLayout(folder_ / "saved"), {});
  EXPECT_TRUE(saved.findings.empty());
  EXPECT_EQ(saved.records, 399u);
  EXPECT_GT(std::filesystem::file_size(folder_ / "saved/" + kLedgerName), 0u);
}

TEST_F(RepairTest, ACutShardLosesItsTail) {
  std::filesystem::resize_file(shard_, Locate(150).offset + 5);
  const RepairResult result = Repair(FindLayout(out_), {.out = folder_ / "saved"});
  EXPECT_EQ(result.records, 400u - (Index::Open(out_ + "/train.recindex").shard(0).records - 150));
  ASSERT_EQ(result.lost.size(), 1u);
  EXPECT_EQ(result.lost[0].records, Index::Open(out_ + "/train.recindex").shard(0).records - 150);
}

TEST_F(RepairTest, AMissingShardIsAFinding) {
  std::filesystem::remove(shard_);
  const VerifyResult found = Verify(FindLayout(out_), {});
  ASSERT_EQ(found.findings.size(), 1u);
  EXPECT_EQ(found.findings[0].path, shard_);
}

TEST_F(RepairTest, APackThatWasNotFinishedIsAFinding) {
  std::filesystem::remove(out_ + "/manifest.json");
  EXPECT_TRUE(Verify(FindLayout(out_), {}).findings.empty());  // all shards exist
  std::filesystem::remove(out_ + "/train.recindex");
  std::filesystem::remove(shard_);
  const VerifyResult found = Verify(FindLayout(out_), {});
  ASSERT_EQ(found.findings.size(), 1u);
  EXPECT_EQ(found.findings[0].path, out_ + "/.recpack/plan.json");
  EXPECT_NE(found.findings[0].reason.find("2 shards, of which 1 are missing"), std::string::npos);
  EXPECT_TRUE(Verify(FindLayout(out_ + "/train-*"), {}).findings.empty());  // only named shards
}

TEST_F(RepairTest, TheOtherShardsAreSavedWhereOneIsMissing) {
  const uint64_t records = Index::Open(out_ + "/train.recindex").shard(0).records;
  const uint64_t bytes = std::filesystem::file_size(shard_);
  std::filesystem::remove(shard_);
  for (const bool indexed : {true, false}) {
    if (!indexed) std::filesystem::remove(out_ + "/train.recindex");
    const std::string saved = folder_ / (indexed ? "saved" : "saved without index");
    const RepairResult result = Repair(FindLayout(out_), {.out = saved});
    EXPECT_EQ(result.records, 400u - records);
    ASSERT_EQ(result.lost.size(), 1u);
    EXPECT_EQ(result.lost[0].path, shard_);
    EXPECT_EQ(result.lost[0].records, indexed ? std::optional(records) : std::nullopt);
    EXPECT_EQ(result.lost[0].end, indexed ? bytes : 0u);
    const VerifyResult verified = Verify(FindLayout(saved), {});
    EXPECT_TRUE(verified.findings.empty());
    EXPECT_EQ(verified.records, 400u - records);
  }
}

// A copy that was interrupted and resumed at, or a little before, the place where it stopped.
TEST_F(RepairTest, AStretchThatWasWrittenTwiceIsSavedOnce) {
  const ByteBuffer good = ReadWholeFile(PosixFiles(), shard_);
  const ByteBuffer index = ReadWholeFile(PosixFiles(), out_ + "/train.recindex");
  const uint64_t records = Index::Open(out_ + "/train.recindex").shard(0).records;
  const uint64_t at_record = Locate(50).offset;
  const uint64_t ends[] = {Locate(60).offset, Locate(60).offset + 7};
  for (const bool indexed : {true, false}) {
    for (const uint64_t begin : {at_record, at_record + 5}) {
      for (const uint64_t end : ends) {
        ByteBuffer bad(good.begin(), good.begin() + static_cast<ptrdiff_t>(end));
        bad.insert(bad.end(), good.begin() + static_cast<ptrdiff_t>(begin), good.end());
        WriteFileAtomically(PosixFiles(), shard_, bad, false);
        if (!indexed) std::filesystem::remove(out_ + "/train.recindex");
        const TemporaryFolder saved;
        const RepairResult result = Repair(FindLayout(out_), {.out = saved.path()});
        EXPECT_EQ(result.records, 400u) << begin << ' ' << end << ' ' << indexed;
        EXPECT_FALSE(result.lost.empty());
        for (const LostRecords& lost : result.lost) EXPECT_EQ(lost.records, 0u) << lost.reason;
        EXPECT_EQ(ReadWholeFile(PosixFiles(), saved / "train-00000-of-00002.tfrecord"), good);
        EXPECT_GT(records, 60u);
      }
    }
  }
  WriteFileAtomically(PosixFiles(), out_ + "/train.recindex", index, false);
}

// Stretches of any length, which begin and end anywhere: never more records than there were.
TEST_F(RepairTest, AShortStretchThatWasWrittenTwiceAddsNoRecord) {
  const ByteBuffer good = ReadWholeFile(PosixFiles(), shard_);
  std::mt19937_64 random(7);
  for (int i = 0; i < 200; ++i) {
    const size_t begin = random() % (good.size() - 400), bytes = 1 + random() % 400;
    ByteBuffer bad = good;
    bad.insert(bad.begin() + static_cast<ptrdiff_t>(begin + bytes),
               good.begin() + static_cast<ptrdiff_t>(begin),
               good.begin() + static_cast<ptrdiff_t>(begin + bytes));
    WriteFileAtomically(PosixFiles(), shard_, bad, false);
    const TemporaryFolder saved;
    const RepairResult result = Repair(FindLayout(out_), {.out = saved.path()});
    ASSERT_LE(result.records, 400u) << begin << ' ' << bytes;
    ASSERT_GE(result.records, 399u) << begin << ' ' << bytes;  // the stretch lies within a record
    ASSERT_FALSE(result.lost.empty());
    uint64_t lost = 0;
    bool counted = true;
    for (const LostRecords& piece : result.lost) {
      lost += piece.records.value_or(0);
      counted &= piece.records.has_value();
    }
    ASSERT_TRUE(!counted || result.records + lost == 400) << begin << ' ' << bytes << ' ' << lost;
  }
}

// Each record is whole then: the index tells which one is there twice, and without it the digest of
// the shard that something was changed.
TEST_F(RepairTest, ARecordThatWasCopiedOverAnotherIsTold) {
  std::optional<std::pair<uint64_t, uint64_t>> same;  // two of one length
  for (uint64_t i = 0; i < 100 && !same; ++i) {
    for (uint64_t k = i + 1; k < 100 && !same; ++k) {
      const auto bytes = [&](uint64_t n) { return Locate(n + 1).offset - Locate(n).offset; };
      if (bytes(i) == bytes(k)) same.emplace(i, k);
    }
  }
  ASSERT_TRUE(same);
  const auto [from, to] = *same;
  std::string frame(Locate(from + 1).offset - Locate(from).offset, ' ');
  std::fstream file(shard_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(Locate(from).offset));
  file.read(frame.data(), static_cast<std::streamsize>(frame.size()));
  file.seekp(static_cast<std::streamoff>(Locate(to).offset));
  file << frame;
  file.close();
  for (const bool indexed : {true, false}) {
    if (!indexed) std::filesystem::remove(out_ + "/train.recindex");
    const TemporaryFolder saved;
    const RepairResult result = Repair(FindLayout(out_), {.out = saved.path()});
    EXPECT_EQ(result.records, indexed ? 399u : 400u);
    ASSERT_EQ(result.lost.size(), 1u);
    EXPECT_EQ(result.lost[0].path, shard_);
    EXPECT_EQ(result.lost[0].records, indexed ? std::optional<uint64_t>(1) : std::nullopt);
    EXPECT_NE(result.lost[0].reason.find(indexed ? "copied over" : "SHA-256"), std::string::npos)
        << result.lost[0].reason;
  }
}

TEST_F(RepairTest, AShardThatEndsAtARecordTooEarlyHasLostTheRest) {
  const uint64_t records = Index::Open(out_ + "/train.recindex").shard(0).records;
  for (const bool indexed : {true, false}) {
    for (const uint64_t kept : {uint64_t{150}, uint64_t{0}}) {
      if (indexed) std::filesystem::resize_file(shard_, Locate(kept).offset);
      if (!indexed) std::filesystem::remove(out_ + "/train.recindex");
      const TemporaryFolder saved;
      const RepairResult result = Repair(FindLayout(out_), {.out = saved.path()});
      const uint64_t whole = indexed ? kept : 0;
      EXPECT_EQ(result.records, 400 - records + whole);
      ASSERT_EQ(result.lost.size(), 1u);
      EXPECT_EQ(result.lost[0].records, records - whole);
      EXPECT_EQ(result.lost[0].ordinal, whole);
    }
  }
}

TEST_F(RepairTest, AShardThatTheManifestMisnamesIsLookedForBeside) {
  const std::string path = out_ + "/manifest.json";
  const std::string good(AsText(ReadWholeFile(PosixFiles(), path)));
  for (const bool indexed : {true, false}) {
    if (!indexed) std::filesystem::remove(out_ + "/train.recindex");
    for (const char* wrong : {"train-00007-of-00002.tfrecord", "train-00001-of-00002.tfrecord"}) {
      std::string bad = good;
      const std::string right = "train-00000-of-00002.tfrecord";
      bad.replace(bad.find(right), right.size(), wrong);
      WriteFileAtomically(PosixFiles(), path, AsBytes(bad), false);
      const TemporaryFolder saved;
      const RepairResult result = Repair(FindLayout(out_), {.out = saved.path()});
      EXPECT_EQ(result.records, 400u) << wrong << indexed;
      ASSERT_EQ(result.lost.size(), 1u);
      EXPECT_EQ(result.lost[0].path, path);
      EXPECT_EQ(result.lost[0].records, 0u);
      EXPECT_TRUE(std::filesystem::exists(saved / right));
      EXPECT_TRUE(Verify(FindLayout(saved.path()), {}).findings.empty());
    }
  }
}

TEST_F(RepairTest, ShardsAreSavedWhereTheManifestIsDamaged) {
  const std::string out = folder_ / "two";
  const std::string path = out + "/manifest.json";
  PackOptions options;
  options.out = out;
  options.sync = false;
  options.plan.shards = 2;
  Pack(FakeSource({{"train", 300}, {"eval", 60}}), options);
  const ByteBuffer good = ReadWholeFile(PosixFiles(), path);
  ByteBuffer cut(good.begin(), good.begin() + static_cast<ptrdiff_t>(good.size() / 2));
  ByteBuffer zeros_within = good, random = good, other_sum = good;
  std::fill(zeros_within.begin() + 50, zeros_within.begin() + 90, uint8_t{0});
  for (size_t i = 0; i < random.size(); ++i) random[i] = static_cast<uint8_t>(i * i * 31 >> 3);
  const size_t sum = AsText(good).find("\"records\": 300");
  ASSERT_NE(sum, std::string_view::npos);
  other_sum[sum + 11] = '8';
  const std::string shard = out + "/train-00000-of-00002.tfrecord";
  const uint64_t whole = Index::Open(out + "/train.recindex").shard(0).records;
  for (const bool indexed : {true, false}) {
    if (!indexed) {
      std::filesystem::remove(out + "/train.recindex");
      std::filesystem::remove(out + "/eval.recindex");
    }
    for (const ByteBuffer& bad : {ByteBuffer(), cut, ByteBuffer(good.size()), zeros_within, random,
                                  other_sum, ByteBuffer{'{', '}'}}) {
      WriteFileAtomically(PosixFiles(), path, bad, false);
      EXPECT_THROW(FindLayout(out), Error);
      for (const std::string& given : {out, path}) {
        const TemporaryFolder saved;
        const RepairResult result = Repair(FindDamagedLayout(given), {.out = saved.path()});
        EXPECT_EQ(result.records, 360u);
        ASSERT_EQ(result.lost.size(), 1u);
        EXPECT_EQ(result.lost[0].path, path);
        EXPECT_EQ(result.lost[0].records, 0u);
        EXPECT_NE(result.lost[0].reason.find("the manifest is damaged"), std::string::npos);
        const VerifyResult verified = Verify(FindLayout(saved.path()), {});
        EXPECT_TRUE(verified.findings.empty());
        EXPECT_EQ(verified.records, 360u);
        const Manifest manifest = ReadManifest(PosixFiles(), saved.path());
        ASSERT_EQ(manifest.splits.size(), 2u);
        EXPECT_EQ(manifest.FindSplit("train")->records(), 300u);
        EXPECT_EQ(manifest.FindSplit("eval")->records(), 60u);
        const std::string ledger(AsText(ReadWholeFile(PosixFiles(), saved / kLedgerName)));
        EXPECT_NE(ledger.find("the manifest is damaged"), std::string::npos);
      }
    }
  }

  // With a shard that is not there, which its siblings' names tell.
  std::filesystem::remove(shard);
  const RepairResult result = Repair(FindDamagedLayout(out), {.out = folder_ / "saved"});
  EXPECT_EQ(result.records, 360 - whole);
  EXPECT_EQ(result.lost.size(), 2u);
}

TEST_F(RepairTest, AManifestThatIsNotDamagedIsTakenOrRefused) {
  EXPECT_TRUE(FindDamagedLayout(out_).manifest);
  EXPECT_EQ(FindDamagedLayout(out_).manifest_damage, "");
  const std::string path = out_ + "/manifest.json";
  std::string text(AsText(ReadWholeFile(PosixFiles(), path)));
  const std::string version = "\"version\": ";
  text.insert(text.find(version) + version.size(), "9");
  WriteFileAtomically(PosixFiles(), path, AsBytes(text), false);
  try {
    FindDamagedLayout(out_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
  }
  // Where no shards are left, the manifest's damage is what is told.
  WriteFileAtomically(PosixFiles(), path, AsBytes(std::string("{")), false);
  std::filesystem::remove(shard_);
  std::filesystem::remove(out_ + "/train-00001-of-00002.tfrecord");
  try {
    FindDamagedLayout(out_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
    EXPECT_EQ(error.place().path, path);
  }
}

// A file system with a read error at one place.
class FailingDisk final : public RealFiles {
 public:
  FailingDisk(std::string path, uint64_t offset) : path_(std::move(path)), offset_(offset) {}

  std::unique_ptr<ReadableFile> OpenForReading(const std::string& path) override {
    auto file = RealFiles::OpenForReading(path);
    if (path != path_) return file;
    return std::make_unique<File>(std::move(file), offset_);
  }

 private:
  class File final : public ReadThrough {
   public:
    File(std::unique_ptr<ReadableFile> file, uint64_t offset)
        : ReadThrough(std::move(file)), offset_(offset) {}
    size_t ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
      if (offset <= offset_ && offset_ < offset + out.size()) {
        throw SystemError("cannot read", path(), EIO);
      }
      return ReadThrough::ReadAt(offset, out);
    }

   private:
    uint64_t offset_;
  };

  std::string path_;
  uint64_t offset_;
};

TEST_F(RepairTest, GoesOnWhereTheDiskFailsWithinAShard) {
  PackOptions large;
  large.out = out_;
  large.sync = false;
  large.overwrite = true;
  large.plan.shards = 2;
  Pack(FakeSource({{"train", 60'000}}), large);
  const uint64_t bytes = std::filesystem::file_size(shard_);
  ASSERT_GT(bytes, uint64_t{5} << 19);  // several reads
  FailingDisk disk(shard_, bytes - 1000);
  const uint64_t of_shard = Index::Open(out_ + "/train.recindex").shard(0).records;
  for (const bool indexed : {true, false}) {
    if (!indexed) std::filesystem::remove(out_ + "/train.recindex");
    const std::string saved = folder_ / (indexed ? "saved" : "saved without index");
    const RepairResult result = Repair(FindLayout(out_), {.out = saved, .files = &disk});
    ASSERT_EQ(result.lost.size(), 1u);
    const LostRecords& lost = result.lost[0];
    EXPECT_EQ(lost.path, shard_);
    EXPECT_NE(lost.reason.find("cannot read"), std::string::npos) << lost.reason;
    EXPECT_GT(lost.ordinal, 1000u);
    EXPECT_EQ(lost.end, bytes);
    EXPECT_LT(lost.offset, bytes - 1000);
    EXPECT_EQ(lost.records, indexed ? std::optional(of_shard - lost.ordinal) : std::nullopt);
    EXPECT_EQ(result.records, 60'000 - of_shard + lost.ordinal);
    const VerifyResult verified = Verify(FindLayout(saved), {});
    EXPECT_TRUE(verified.findings.empty());
    EXPECT_EQ(verified.records, result.records);
  }
}

TEST_F(RepairTest, TheOtherShardsAreSavedWhereOneCannotBeReadAtAll) {
  const uint64_t records = Index::Open(out_ + "/train.recindex").shard(0).records;
  std::filesystem::remove(shard_);
  std::filesystem::create_directory(shard_);
  const RepairResult result = Repair(FindLayout(out_), {.out = folder_ / "saved"});
  EXPECT_EQ(result.records, 400u - records);
  ASSERT_EQ(result.lost.size(), 1u);
  EXPECT_EQ(result.lost[0].path, shard_);
  EXPECT_EQ(result.lost[0].records, records);
  EXPECT_TRUE(Verify(FindLayout(folder_ / "saved"), {}).findings.empty());
}

// Returns an error when one file is opened or read.
class RefusingDisk final : public RealFiles {
 public:
  RefusingDisk(std::string path, int error_number, bool opens)
      : path_(std::move(path)), error_number_(error_number), opens_(opens) {}

  std::unique_ptr<ReadableFile> OpenForReading(const std::string& path) override {
    if (path != path_) return RealFiles::OpenForReading(path);
    if (!opens_) throw SystemError("cannot open", path, error_number_);
    return std::make_unique<File>(RealFiles::OpenForReading(path), error_number_);
  }

 private:
  class File final : public ReadThrough {
   public:
    File(std::unique_ptr<ReadableFile> file, int error_number)
        : ReadThrough(std::move(file)), error_number_(error_number) {}
    size_t ReadAt(uint64_t, std::span<uint8_t>) const override {
      throw SystemError("cannot read", path(), error_number_);
    }

   private:
    int error_number_;
  };

  std::string path_;
  int error_number_;
  bool opens_;
};

TEST_F(RepairTest, OnlyWhatIsDamagedIsLost) {
  for (const bool opens : {false, true}) {
    for (const int error_number : {EACCES, EPERM, EMFILE, ENFILE, ENOMEM, ESTALE, ETIMEDOUT}) {
      RefusingDisk disk(shard_, error_number, opens);
      const TemporaryFolder saved;
      try {
        Repair(FindLayout(out_), {.out = saved.path(), .files = &disk});
        FAIL() << error_number;
      } catch (const Error& error) {
        EXPECT_EQ(error.error_number(), error_number);
        EXPECT_EQ(error.place().path, shard_);
        EXPECT_NE(error.advice().find("may be whole"), std::string::npos) << error.what();
      }
      EXPECT_FALSE(std::filesystem::exists(saved / "manifest.json"));
      EXPECT_FALSE(std::filesystem::exists(saved / kLedgerName));
    }
    for (const int error_number : {EIO, EUCLEAN}) {
      RefusingDisk disk(shard_, error_number, opens);
      const TemporaryFolder saved;
      const RepairResult result = Repair(FindLayout(out_), {.out = saved.path(), .files = &disk});
      ASSERT_EQ(result.lost.size(), 1u) << error_number;
      EXPECT_EQ(result.lost[0].records, Index::Open(out_ + "/train.recindex").shard(0).records);
    }
  }
}

TEST_F(RepairTest, ASideFileThatCannotBeReadIsLost) {
  PackOptions options;
  options.out = folder_ / "sides";
  options.sync = false;
  FakeSource source({{"train", 10}});
  source.side_files = {{"words.txt", "one"}, {"other.txt", "two"}};
  Pack(source, options);
  std::filesystem::remove(folder_ / "sides/words.txt");
  std::filesystem::create_directory(folder_ / "sides/words.txt");
  const RepairResult result = Repair(FindLayout(folder_ / "sides"), {.out = folder_ / "saved"});
  ASSERT_EQ(result.lost.size(), 1u);
  EXPECT_EQ(result.lost[0].path, folder_ / "sides/words.txt");
  EXPECT_EQ(result.records, 10u);
  const VerifyResult verified = Verify(FindLayout(folder_ / "saved"), {});
  EXPECT_TRUE(verified.findings.empty());
}

TEST_F(RepairTest, AStaleIndexIsAFindingAndCanBeMadeAnew) {
  std::filesystem::resize_file(shard_, Locate(100).offset);
  std::filesystem::remove(out_ + "/manifest.json");
  const VerifyResult stale = Verify(FindLayout(out_), {});
  ASSERT_EQ(stale.findings.size(), 1u);
  EXPECT_NE(stale.findings[0].reason.find("stale"), std::string::npos);
  const auto built = BuildIndexes(FindLayout(out_), {.threads = 2, .dali = true});
  ASSERT_EQ(built.size(), 1u);
  EXPECT_EQ(built[0].records, 100 + Index::Open(built[0].path).shard(1).records);
  EXPECT_TRUE(Verify(FindLayout(out_), {}).findings.empty());
  EXPECT_TRUE(std::filesystem::exists(shard_ + ".idx"));
}

// Loaders use the lengths in the index, so a wrong length there must be found.
TEST_F(RepairTest, AWrongLengthOrOffsetInTheIndexIsAFinding) {
  const std::string path = out_ + "/train.recindex";
  const ByteBuffer good = ReadWholeFile(PosixFiles(), path);
  const Index index = Index::Open(path);
  // The first shard's lengths follow the header, and its blocks follow them.
  ASSERT_GT(index.shard(0).records, 130u);
  for (const uint64_t at : {16 + 20 * sizeof(uint32_t),
                            16 + (index.shard(0).records + 1) / 2 * 8 + 2 * sizeof(uint64_t)}) {
    ByteBuffer bad = good;
    bad[at] ^= 1;
    WriteFileAtomically(PosixFiles(), path, bad, false);
    const VerifyResult found = Verify(FindLayout(out_), {.threads = 2});
    ASSERT_EQ(found.findings.size(), 1u) << at;
    EXPECT_EQ(found.findings[0].path, path);
    EXPECT_EQ(found.findings[0].ordinal, at < 200 ? 20u : 2 * 64u);
    EXPECT_NE(found.findings[0].reason.find("recpack index"), std::string::npos);
    BuildIndexes(FindLayout(out_), {});
    EXPECT_TRUE(Verify(FindLayout(out_), {}).findings.empty());
  }
}

// With records of equal length, a wrong flush point would lead to another record unnoticed.
TEST_F(RepairTest, AWrongFlushPointInTheIndexIsAFinding) {
  const std::string out = folder_ / "flushed";
  const std::string path = out + "/train.recindex";
  std::filesystem::create_directory(out);
  RecordWriter writer(PosixFiles().Create(out + "/train-00000-of-00001.tfrecord"),
                      {.compression = Compression::kGzip, .flush_interval = 1000});
  for (int i = 0; i < 1000; ++i) {
    ExampleBuilder features;
    const std::string text = std::to_string(10'000 + i);
    features.AddBytes("text", AsBytes(text));
    ByteBuffer payload(features.ByteSize());
    features.SerializeTo(payload.data());
    writer.Write(payload);
  }
  writer.Finish(false);
  const auto verify_with = [&](const std::function<void(FlushPoint&)>& change) {
    ShardEntries entries = writer.entries();
    change(entries.flush_points.at(7));
    IndexWriter index(PosixFiles().Create(path));
    index.AddShard(entries);
    index.Finish(false);
    return Verify(FindLayout(out), {}).findings;
  };
  EXPECT_TRUE(verify_with([](FlushPoint&) {}).empty());
  const std::function<void(FlushPoint&)> kWrong[] = {
      [](FlushPoint& point) { point.first_record = 100'000; },
      [](FlushPoint& point) { ++point.first_record; },
      [](FlushPoint& point) { --point.first_record; },
      [](FlushPoint& point) { point.file_offset += 3; },
      [&](FlushPoint& point) { point.file_offset = writer.entries().flush_points[8].file_offset; }};
  for (const auto& wrong : kWrong) {
    const auto found = verify_with(wrong);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].path, path);
    EXPECT_NE(found[0].reason.find("flush points"), std::string::npos) << found[0].reason;
    EXPECT_NE(found[0].reason.find("recpack index"), std::string::npos) << found[0].reason;
    BuildIndexes(FindLayout(out), {});
    EXPECT_TRUE(Verify(FindLayout(out), {}).findings.empty());
  }
}

TEST_F(RepairTest, AnIndexThatListsMoreOrFewerRecordsIsAFinding) {
  const std::string path = out_ + "/train.recindex";
  for (const bool more : {false, true}) {
    const Index index = Index::Open(path);
    std::vector<ShardEntries> shards = {index.Entries(0), index.Entries(1)};
    const uint64_t records = shards[1].lengths.size();
    more ? shards[1].lengths.push_back(3) : shards[1].lengths.pop_back();
    IndexWriter writer(PosixFiles().Create(path + ".other"));
    for (const ShardEntries& shard : shards) writer.AddShard(shard);
    writer.Finish(false);
    std::filesystem::rename(path + ".other", path);
    const VerifyResult found = Verify(FindLayout(out_), {});
    ASSERT_EQ(found.findings.size(), 1u) << more;
    EXPECT_EQ(found.findings[0].ordinal, more ? records : records - 1);
    BuildIndexes(FindLayout(out_), {});
  }
}

TEST_F(RepairTest, AnIndexOfOtherShardsIsNoFinding) {
  std::filesystem::remove(out_ + "/manifest.json");
  std::filesystem::rename(shard_, out_ + "/a.tfrecord");
  std::filesystem::rename(out_ + "/train-00001-of-00002.tfrecord", out_ + "/b.tfrecord");
  BuildIndexes(FindLayout(out_ + "/a.tfrecord"), {});
  EXPECT_TRUE(Verify(FindLayout(out_ + "/a.tfrecord"), {}).findings.empty());
  EXPECT_TRUE(Verify(FindLayout(out_ + "/b.tfrecord"), {}).findings.empty());
}

TEST_F(RepairTest, AnIndexOfAShardWhoseNameOnlyEndsAlikeIsAFinding) {
  std::filesystem::remove(out_ + "/manifest.json");
  std::filesystem::remove_all(out_ + "/.recpack");
  const std::string other = out_ + "/xtrain-00000-of-00002.tfrecord";
  std::filesystem::rename(shard_, other);
  const VerifyResult found = Verify({.folder = out_,
                                     .splits = {{.name = "train",
                                                 .shards = {other, out_ + "/train-00001-of-00002"
                                                                          ".tfrecord"},
                                                 .index = out_ + "/train.recindex"}},
                                     .manifest = {}},
                                    {});
  ASSERT_EQ(found.findings.size(), 2u);
  EXPECT_NE(found.findings[0].reason.find("lists train-00000-of-00002.tfrecord instead of"),
            std::string::npos);
  EXPECT_NE(found.findings[1].reason.find("are missing"), std::string::npos);
}

// The index is valid although it lists the shards in another order.
TEST_F(RepairTest, FindsAShardsEntriesWhereverTheIndexListsThem) {
  const Index index = Index::Open(out_ + "/train.recindex");
  const uint64_t lost = index.shard(0).records - 150;
  std::filesystem::resize_file(shard_, Locate(150).offset + 5);
  {
    IndexWriter turned(PosixFiles().Create(out_ + "/turned"));
    turned.AddShard(index.Entries(1));
    turned.AddShard(index.Entries(0));
    turned.Finish(false);
  }
  std::filesystem::rename(out_ + "/turned", out_ + "/train.recindex");
  const RepairResult result = Repair(FindLayout(out_), {.out = folder_ / "saved"});
  ASSERT_EQ(result.lost.size(), 1u);
  EXPECT_EQ(result.lost[0].records, lost);
}

// With the wrong compression from such an index, nothing at all could be read.
TEST_F(RepairTest, AnIndexOfShardsThatWereCompressedOtherwiseIsNotTheirs) {
  PackOptions options;
  options.out = folder_ / "compressed";
  options.sync = false;
  options.plan.shards = 2;
  options.writer.compression = Compression::kGzip;
  Pack(FakeSource({{"train", 400}}), options);
  std::filesystem::rename(out_ + "/train.recindex", folder_ / "plain.recindex");
  std::filesystem::rename(options.out + "/train.recindex", out_ + "/train.recindex");
  std::filesystem::rename(folder_ / "plain.recindex", options.out + "/train.recindex");
  for (const std::string& folder : {out_, options.out}) {
    const RepairResult result = Repair(FindLayout(folder), {.out = folder + " saved"});
    EXPECT_EQ(result.records, 400u) << folder;
    EXPECT_TRUE(result.lost.empty()) << folder;
  }
}

TEST_F(RepairTest, ADamagedShardIsNotIndexed) {
  Damage(Locate(20).offset + 15, '\x7e');
  const auto before = std::filesystem::last_write_time(out_ + "/train.recindex");
  EXPECT_THROW(BuildIndexes(FindLayout(out_), {.threads = 2}), Error);
  EXPECT_EQ(std::filesystem::last_write_time(out_ + "/train.recindex"), before);
  for (const auto& entry : std::filesystem::directory_iterator(out_)) {
    EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos);
  }
}

// Only one of two shards with the same name could be saved.
TEST_F(RepairTest, RefusesShardsOfOneName) {
  std::filesystem::copy(out_, folder_ / "other");
  const std::string both = folder_ / "{out,other}/*.tfrecord";
  try {
    Repair(FindLayout(both), {.out = folder_ / "saved"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    EXPECT_NE(error.reason().find("train-00000-of-00002.tfrecord"), std::string::npos);
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "saved"));
  std::filesystem::remove(folder_ / "other/train-00000-of-00002.tfrecord");
  std::filesystem::remove(out_ + "/train-00001-of-00002.tfrecord");
  EXPECT_EQ(Repair(FindLayout(both), {.out = folder_ / "saved"}).records, 400u);
}

TEST_F(RepairTest, RefusesAFolderThatIsNotEmpty) {
  EXPECT_THROW(Repair(FindLayout(out_), {.out = out_}), Error);
}

}  // namespace
}  // namespace recpack::pack
