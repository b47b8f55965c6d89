// After any single change of any file of a data set the loader gives the same batches, an error, or
// substitutions that it tells of. Never other batches.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <random>
#include <set>

#include "recpack/base/error.h"
#include "recpack/loader/loader.h"
#include "src/pack/job/pack.h"
#include "tests/base/temporary_folder.h"
#include "tests/pack/fake_source.h"

namespace recpack {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kRecords = 150;
constexpr size_t kNumbers = 4;
constexpr int kChanges = 2600;  // of each data set

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

// Changes one file; says how. Nothing where the change leaves the file as it is.
std::string Change(Random& random, const Files& files, const std::string& path) {
  const ByteBuffer& old = files.at(path);
  ByteBuffer bytes = old;
  const auto [begin, end] = Stretch(random, bytes.size());
  const auto at = [&](size_t i) { return bytes.begin() + static_cast<ptrdiff_t>(i); };
  const auto another =
      std::next(files.begin(), static_cast<ptrdiff_t>(Below(random, files.size())));
  std::string how;
  switch (Below(random, 12)) {
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
    default:
      how = "has random bytes";
      for (size_t i = begin; i < end; ++i) bytes[i] = static_cast<uint8_t>(random());
  }
  if (bytes == old) return {};
  WriteFileAtomically(PosixFiles(), path, bytes, false);
  return how + ", bytes " + std::to_string(begin) + " to " + std::to_string(end);
}

LoaderOptions Options(OnBadRecord on_bad_record) {
  return {.fields = {NumbersField{.name = "numbers", .type = ValueType::kF32, .length = kNumbers}},
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
    Loader loader(Dataset::Open(out_, {.split = "train"}), Options(OnBadRecord::kFail));
    for (size_t taken = 0; taken < kRecords;) {
      const auto batch = loader.Next();
      ASSERT_TRUE(batch);
      for (uint32_t i = 0; i < batch->size(); ++i) order_.push_back(batch->ids()[i]);
      taken += batch->size();
    }
    ASSERT_EQ(std::set<uint64_t>(order_.begin(), order_.end()).size(), kRecords);
    // Which record of the source an ordinal is.
    const auto source = Dataset::Open(out_, {.split = "train"});
    content_.resize(kRecords);
    Loader first(source, Options(OnBadRecord::kFail));
    while (const auto batch = first.Next()) {
      const float* numbers = batch->Data<float>("numbers");
      for (uint32_t i = 0; i < batch->size(); ++i) {
        content_[batch->ids()[i]] = {numbers + i * kNumbers, numbers + (i + 1) * kNumbers};
      }
    }
  }

  void Restore(const std::string& path) {
    WriteFileAtomically(PosixFiles(), path, files_.at(path), false);
  }

  // An epoch of what is there now, held to the reference.
  Outcome Try(OnBadRecord on_bad_record, const std::string& change) {
    std::set<std::pair<uint64_t, uint64_t>> substituted;  // position, taken
    std::vector<uint64_t> ids;
    std::vector<std::vector<float>> content;
    try {
      Loader loader(Dataset::Open(out_, {.split = "train"}), Options(on_bad_record));
      while (const auto batch = loader.Next()) {
        const float* numbers = batch->Data<float>("numbers");
        for (uint32_t i = 0; i < batch->size(); ++i) {
          ids.push_back(batch->ids()[i]);
          content.emplace_back(numbers + i * kNumbers, numbers + (i + 1) * kNumbers);
        }
      }
      for (const auto& one : loader.substitutions()) substituted.emplace(one.position, one.taken);
    } catch (const Error&) {
      return Outcome::kError;
    }
    EXPECT_EQ(ids.size(), kRecords) << change;
    for (size_t i = 0; i < std::min(ids.size(), order_.size()); ++i) {
      const bool told = substituted.contains({i, ids[i]});
      EXPECT_TRUE(ids[i] == order_[i] || told) << change << ", position " << i;
      EXPECT_TRUE(ids[i] < kRecords && content[i] == content_[ids[i]])
          << change << ", position " << i;
    }
    return substituted.empty() ? Outcome::kSame : Outcome::kSubstituted;
  }

  TemporaryFolder folder_;
  std::string out_ = folder_ / "out";
  Files files_;
  std::vector<uint64_t> order_;              // ids by position
  std::vector<std::vector<float>> content_;  // by id
};

TEST_P(ChangedData, NeverGivesOtherBatches) {
  std::vector<std::string> paths;
  for (const auto& [path, bytes] : files_) paths.push_back(path);
  std::map<Outcome, int> outcomes;
  int made = 0;
  for (uint64_t seed = 0; made < kChanges; ++seed) {
    Random random(seed);
    const std::string& path = paths[Below(random, paths.size())];
    const std::string how = Change(random, files_, path);
    if (how.empty()) continue;
    ++made;
    const std::string change = "seed " + std::to_string(seed) + ": " + path + ' ' + how;
    const bool substitutes = Below(random, 2) == 0;
    ++outcomes[Try(substitutes ? OnBadRecord::kSubstitute : OnBadRecord::kFail, change)];
    Restore(path);
    if (HasFailure()) return;
  }
  // All three are seen often: the changes are neither all harmless nor all fatal.
  EXPECT_GT(outcomes[Outcome::kSame], made / 100);
  EXPECT_GT(outcomes[Outcome::kError], made / 10);
  EXPECT_GT(outcomes[Outcome::kSubstituted], made / 100);
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
