#include <algorithm>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/pack/sources/reviews/review_table.h"
#include "src/pack/sources/reviews/reviews.h"
#include "src/pack/sources/reviews/vocabulary.h"

namespace recpack::pack {
namespace {

constexpr uint64_t kRecordBytes = 100;  // approximate, without token ids

class ReviewsSource final : public Source {
 public:
  explicit ReviewsSource(const ReviewsOptions& options)
      : max_tokens_(options.max_tokens), table_(options) {
    for (size_t i = 0; i < kReviewSplits.size(); ++i) {
      splits_.push_back({.name = kReviewSplits[i], .items = table_.splits[i].size()});
    }
  }

  std::string kind() const override { return "reviews"; }
  const std::vector<SourceSplit>& splits() const override { return splits_; }
  const std::vector<std::string>& class_names() const override { return no_names_; }
  bool sorted_by_class() const override { return false; }

  std::string ItemName(size_t split, uint64_t item) const override {
    const uint32_t number = table_.splits[split][item];
    return format("{}:{}", table_.File(number).name, table_.reviews[number].line);
  }

  uint64_t ItemBytes(size_t split, uint64_t item) const override {
    const Review& review = table_.reviews[table_.splits[split][item]];
    if (!review.is_review()) return kRecordBytes;
    const uint64_t own = split == kTrainReviews ? review.tokens : 0;
    const uint64_t tokens =
        std::min<uint64_t>(table_.of_users.TokenCount(review.user) - own, max_tokens_) +
        std::min<uint64_t>(table_.of_items.TokenCount(review.item) - own, max_tokens_);
    return kRecordBytes + static_cast<uint64_t>(static_cast<double>(tokens) * table_.mean_id_bytes);
  }

  std::string Fingerprint() const override { return table_.fingerprint; }
  std::unique_ptr<ItemReader> NewReader() const override;

  std::vector<SideFile> SideFiles() const override {
    return {{.name = kVocabularyName, .text = table_.vocabulary}};
  }

  std::string WhyNotAppended() const override {
    return "reviews cannot be appended: users and items would be numbered from 0 again";
  }

  std::vector<std::string> Notices() const override {
    if (table_.repeated == 0) return {};
    return {
        format("{} reviews have the same user and item as an earlier one; all are packed, but "
               "their token lists leave each other out",
               table_.repeated)};
  }

  uint32_t max_tokens() const { return max_tokens_; }
  const ReviewTable& table() const { return table_; }

 private:
  uint32_t max_tokens_;
  ReviewTable table_;
  std::vector<SourceSplit> splits_;
  std::vector<std::string> no_names_;
};

class ReviewsReader final : public ItemReader {
 public:
  explicit ReviewsReader(const ReviewsSource& source)
      : table_(source.table()), max_tokens_(source.max_tokens()) {}

  void Read(size_t split, uint64_t item, Sample& sample) override {
    const uint32_t number = table_.splits[split][item];
    const Review& review = table_.reviews[number];
    if (!review.is_review()) Fail(number);
    AddTokens("user_tokens", table_.of_users.Reviews(review.user), review, sample);
    AddTokens("item_tokens", table_.of_items.Reviews(review.item), review, sample);
    sample.features.AddInt64("user", review.user);
    sample.features.AddInt64("item", review.item);
    sample.features.AddFloat("rating", review.rating);
  }

 private:
  // Appends tokens of the reviews in turn, up to the maximum.
  void AddTokens(std::string_view name, std::span<const uint32_t> reviews, const Review& predicted,
                 Sample& sample) {
    ids_.clear();
    for (const uint32_t number : reviews) {
      if (ids_.size() == max_tokens_) break;
      const Review& review = table_.reviews[number];
      if (!review.is_of_same_pair(predicted)) Append(review);
    }
    sample.features.AddInt64List(name, ids_);
  }

  void Append(const Review& review) {
    numbers_.resize(std::min<size_t>(review.tokens, max_tokens_ - ids_.size()));
    const std::span<uint8_t> room(reinterpret_cast<uint8_t*>(numbers_.data()),
                                  numbers_.size() * sizeof(uint32_t));
    if (table_.tokens.ReadAt(review.place * sizeof(uint32_t), room) != room.size()) {
      throw Error(ErrorKind::kIo, "the temporary file of tokens was truncated",
                  {.path = table_.tokens.path()});
    }
    for (const uint32_t number : numbers_) ids_.push_back(table_.token_ids[number]);
  }

  [[noreturn]] void Fail(uint32_t number) const {
    const Review& line = table_.reviews[number];
    throw Error(
        ErrorKind::kCorrupt, FaultReason(line.fault()),
        {.path = format("{}:{}", table_.File(number).path, line.line), .offset = line.place});
  }

  const ReviewTable& table_;
  size_t max_tokens_;
  std::vector<uint32_t> numbers_;
  std::vector<int64_t> ids_;
};

std::unique_ptr<ItemReader> ReviewsSource::NewReader() const {
  return std::make_unique<ReviewsReader>(*this);
}

}  // namespace

std::unique_ptr<Source> OpenReviews(const ReviewsOptions& options) {
  return std::make_unique<ReviewsSource>(options);
}

}  // namespace recpack::pack
