#include "src/stand_in/reviews.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "recpack/base/folders.h"
#include "recpack/base/permutation.h"
#include "recpack/base/random.h"
#include "src/base/format.h"

namespace recpack::stand_in {
namespace {

constexpr uint64_t kMostRecords = 1'000'000'000;
constexpr uint32_t kSigns = 4;
constexpr size_t kPiece = size_t{1} << 16;  // bytes per write

// Streams of the keyed random numbers.
constexpr uint32_t kUsers = 0x72767573;  // "rvus"
constexpr uint32_t kItems = 0x72766974;
constexpr uint32_t kPairs = 0x72767061;
constexpr uint32_t kWords = 0x72767764;

class ReviewMaker {
 public:
  ReviewMaker(uint64_t records, uint64_t seed)
      : seed_(seed), people_(CountPeople(records)), pairs_(seed, kPairs, people_ * people_) {}

  void AppendLine(uint64_t record, std::string& out) const {
    const uint64_t pair = pairs_(record);
    const uint64_t user = pair / people_, item = pair % people_;
    const uint32_t tastes = Signs(kUsers, user), traits = Signs(kItems, item);
    out += format(R"({{"reviewerID": "U{:09}", "asin": "I{:09}", "reviewText": ")", user, item);
    AppendWords(record, tastes, traits, out);
    out += format(R"(", "overall": {}.0}})", Rating(tastes, traits)) + "\n";
  }

 private:
  static uint64_t CountPeople(uint64_t records) {
    uint64_t people = (records + 9) / 10;
    while (people * people < records) ++people;
    return people;
  }

  // Returns the signs as bits: bit k is set if sign k is +1.
  uint32_t Signs(uint32_t stream, uint64_t number) const {
    return KeyedRandom(seed_, stream, number).NextBelow(1U << kSigns);
  }

  static int Rating(uint32_t tastes, uint32_t traits) {
    int sum = 0;
    for (uint32_t k = 0; k < kSigns; ++k) sum += ((tastes ^ traits) >> k & 1) == 0 ? 1 : -1;
    return 3 + sum / 2;
  }

  void AppendWords(uint64_t record, uint32_t tastes, uint32_t traits, std::string& out) const {
    KeyedRandom random(seed_, kWords, record);
    const uint32_t words = 16 + random.NextBelow(16);
    for (uint32_t i = 0; i < words; ++i) {
      const uint32_t kind = random.NextBelow(4);
      if (i > 0) out += ' ';
      if (kind >= 2) {
        out += format("word{}", random.NextBelow(100));
      } else {
        const uint32_t k = random.NextBelow(kSigns);
        const bool plus = ((kind == 0 ? tastes : traits) >> k & 1) != 0;
        out += format("{}{}{}", kind == 0 ? "taste" : "trait", k, plus ? "plus" : "minus");
      }
    }
    out += '.';
  }

  uint64_t seed_;
  uint64_t people_;  // number of users, and of items
  KeyedPermutation pairs_;
};

}  // namespace

void WriteReviews(const std::string& folder, const ReviewsOptions& options) {
  FileSystem& files = options.files != nullptr ? *options.files : PosixFiles();
  if (options.records == 0 || options.records > kMostRecords) {
    throw Error(ErrorKind::kInvalidArgument,
                format("invalid number of reviews: {}", options.records), {},
                format("give a number from 1 to {}", kMostRecords));
  }
  const std::string path = folder + "/" + kReviewsName;
  if (files.Exists(path)) {
    throw Error(ErrorKind::kInvalidArgument, "already exists", {.path = path},
                "give an empty folder for the stand-in");
  }
  MakeFolder(folder);
  const ReviewMaker maker(options.records, options.seed);
  const auto write = [&](WritableFile& file) {
    std::string text;
    for (uint64_t record = 0; record < options.records; ++record) {
      maker.AppendLine(record, text);
      if (text.size() < kPiece && record + 1 < options.records) continue;
      file.Write(AsBytes(text));
      text.clear();
    }
  };
  WritePiecesAtomically(files, path, write, false);
}

}  // namespace recpack::stand_in
