#include "src/pack/sources/reviews/review_table.h"

#include <algorithm>

#include "recpack/base/bytes.h"
#include "recpack/base/error.h"
#include "recpack/base/hash.h"
#include "src/base/format.h"
#include "src/pack/item/field_values.h"
#include "src/pack/item/text_lines.h"
#include "src/pack/item/text_numbers.h"
#include "src/pack/sources/reviews/review_tokens.h"
#include "src/pack/sources/reviews/vocabulary.h"

namespace recpack::pack {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr size_t kTokensAWrite = size_t{1} << 16;
constexpr uint32_t kMostTokens = uint32_t{1} << 24;
constexpr uint64_t kMostVocabulary = uint64_t{1} << 31;

ByteView NumberBytes(const std::vector<uint32_t>& numbers) {
  return {reinterpret_cast<const uint8_t*>(numbers.data()), numbers.size() * sizeof(uint32_t)};
}

// Size of a value as a varint of Protocol Buffers.
uint64_t VarintBytes(uint64_t value) {
  uint64_t bytes = 1;
  for (; value >= 0x80; value >>= 7) ++bytes;
  return bytes;
}

// Counts the tokens of reviews and keeps them in a file.
class TokenKeeper {
 public:
  TokenKeeper(SpoolFile& spool, uint32_t most) : spool_(spool), most_(most) {}

  // Counts all tokens and keeps the first ones.
  void Take(std::string_view text, Review& review) {
    review.place = kept_ + pending_.size();
    ReviewTokens tokens(text);
    while (const auto token = tokens.Next()) {
      const uint32_t number = numbers_.Number(*token);
      if (number == counts_.size()) counts_.push_back(0);
      ++counts_[number];
      if (review.tokens == most_) continue;
      pending_.push_back(number);
      ++review.tokens;
    }
    if (pending_.size() >= kTokensAWrite) Flush();
  }

  void Flush() {
    spool_.Append(NumberBytes(pending_));
    kept_ += pending_.size();
    pending_.clear();
  }

  const TextNumbers& numbers() const { return numbers_; }
  const std::vector<uint64_t>& counts() const { return counts_; }

 private:
  SpoolFile& spool_;
  uint32_t most_;
  TextNumbers numbers_;
  std::vector<uint64_t> counts_;
  std::vector<uint32_t> pending_;
  uint64_t kept_ = 0;  // in the file
};

// Reads the files once to fill the table.
class ReviewScan {
 public:
  ReviewScan(ReviewTable& table, const ReviewsOptions& options)
      : table_(table), options_(options), tokens_(table.tokens, options.max_tokens) {}

  void Run() {
    CheckOptions();
    for (ReviewFile& file : table_.files) ReadFile(file);
    tokens_.Flush();
    if (pairs_.empty()) FailWithoutReviews();
    CountRepeated();
    MakeLists();
    MakeVocabulary();
    fingerprint_.Update(
        AsBytes(format("{} {}\n{}", options_.max_tokens, options_.seed, table_.vocabulary)));
    table_.fingerprint = Hex(fingerprint_.Finish());
  }

 private:
  void CheckOptions() const {
    if (options_.max_tokens == 0 || options_.max_tokens > kMostTokens) {
      throw Error(ErrorKind::kInvalidArgument,
                  format("invalid number of tokens per record: {}", options_.max_tokens), {},
                  format("give a number from 1 to {}", kMostTokens));
    }
    if (options_.vocabulary == 0 || options_.vocabulary > kMostVocabulary) {
      throw Error(ErrorKind::kInvalidArgument,
                  format("invalid size of the vocabulary: {}", options_.vocabulary), {},
                  format("give a number from 1 to {}", kMostVocabulary));
    }
  }

  void ReadFile(ReviewFile& file) {
    file.first_review = table_.reviews.size();
    Sha256 content;
    TextLines lines(kMostLineBytes, [&](const TextLine& line) { Take(line); });
    ReadPieces(*PosixFiles().OpenForReading(file.path), [&](ByteView piece) {
      content.Update(piece);
      lines.Add(piece);
    });
    lines.Finish();
    fingerprint_.Update(AsBytes(format("{}\n{}\n", file.name, Hex(content.Finish()))));
  }

  void Take(const TextLine& line) {
    std::string_view text = line.text;
    if (line.number == 1 && text.starts_with(kByteOrderMark)) {
      text.remove_prefix(kByteOrderMark.size());
    }
    if (TrimSpace(text).empty() && !line.too_long) return;
    if (table_.reviews.size() == UINT32_MAX) {
      throw Error(ErrorKind::kUnsupported, "holds more than 4 billion reviews",
                  {.path = options_.path}, "pack parts of it separately");
    }
    const ReviewFault fault = line.too_long ? ReviewFault::kTooLong : ParseReview(text, parsed_);
    Review review{.line = line.number};
    size_t split = kTrainReviews;
    if (fault == ReviewFault::kNone) {
      split = AssignSplit(options_.seed, parsed_.user, parsed_.item);
      TakeReview(split, review);
    } else {
      review.place = line.offset;
      review.tokens = static_cast<uint32_t>(fault);
    }
    table_.splits[split].push_back(static_cast<uint32_t>(table_.reviews.size()));
    table_.reviews.push_back(review);
  }

  // Does not read the text of a review for evaluation.
  void TakeReview(size_t split, Review& review) {
    review.user = users_.Number(parsed_.user);
    review.item = items_.Number(parsed_.item);
    review.rating = parsed_.rating;
    if (split == kTrainReviews) tokens_.Take(parsed_.text, review);
    pairs_.push_back(uint64_t{review.user} << 32 | review.item);
  }

  [[noreturn]] void FailWithoutReviews() const {
    if (table_.reviews.empty()) {
      throw Error(ErrorKind::kCorrupt, "holds no reviews", {.path = options_.path});
    }
    const Review& first = table_.reviews[0];
    throw Error(ErrorKind::kCorrupt,
                format("holds no reviews: the first line {}", FaultReason(first.fault())),
                {.path = format("{}:{}", table_.File(0).path, first.line), .offset = first.place},
                "write one JSON object per line (docs/format/reviews.md)");
  }

  void CountRepeated() {
    std::ranges::sort(pairs_);
    const auto last = std::unique(pairs_.begin(), pairs_.end());
    table_.repeated = static_cast<uint64_t>(pairs_.end() - last);
    pairs_ = {};
  }

  template <typename Use>
  void ForEachWithTokens(const Use& use) const {
    for (const uint32_t number : table_.splits[kTrainReviews]) {
      const Review& review = table_.reviews[number];
      if (review.is_review() && review.tokens > 0) use(number, review);
    }
  }

  void MakeLists() {
    ForEachWithTokens([&](uint32_t, const Review& review) {
      table_.of_users.Count(review.user, review.tokens);
      table_.of_items.Count(review.item, review.tokens);
    });
    table_.of_users.Start();
    table_.of_items.Start();
    ForEachWithTokens([&](uint32_t number, const Review& review) {
      table_.of_users.Add(review.user, number);
      table_.of_items.Add(review.item, number);
    });
  }

  void MakeVocabulary() {
    const std::vector<uint64_t>& counts = tokens_.counts();
    const Vocabulary vocabulary = options_.vocabulary_file.empty()
                                      ? Vocabulary(tokens_.numbers(), counts, options_.vocabulary)
                                      : Vocabulary(options_.vocabulary_file);
    uint64_t bytes = 0, all = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
      table_.token_ids.push_back(vocabulary.Id(tokens_.numbers()[i]));
      bytes += counts[i] * VarintBytes(table_.token_ids.back());
      all += counts[i];
    }
    if (all > 0) table_.mean_id_bytes = static_cast<double>(bytes) / static_cast<double>(all);
    table_.vocabulary = vocabulary.Text();
  }

  ReviewTable& table_;
  const ReviewsOptions& options_;
  TokenKeeper tokens_;
  TextNumbers users_;
  TextNumbers items_;
  std::vector<uint64_t> pairs_;  // user and item of each review
  Sha256 fingerprint_;
  ReviewLine parsed_;
};

}  // namespace

size_t AssignSplit(uint64_t seed, std::string_view user, std::string_view item) {
  uint8_t head[16];  // includes the user's length, since names may contain any bytes
  StoreLittleEndian(head, seed);
  StoreLittleEndian(head + 8, uint64_t{user.size()});
  Sha256 hash;
  hash.Update(head);
  hash.Update(AsBytes(user));
  hash.Update(AsBytes(item));
  const uint64_t tenth = LoadLittleEndian<uint64_t>(hash.Finish().data()) % 10;
  return tenth < 8 ? kTrainReviews : tenth - 7;
}

ReviewTable::ReviewTable(const ReviewsOptions& options)
    : files(FindReviewFiles(options.path)), tokens(options.work_folder) {
  ReviewScan(*this, options).Run();
}

const ReviewFile& ReviewTable::File(uint32_t review) const {
  const auto next = std::ranges::upper_bound(files, review, {}, &ReviewFile::first_review);
  return *(next - 1);
}

}  // namespace recpack::pack
