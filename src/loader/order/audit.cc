#include "recpack/loader/audit.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "recpack/base/error.h"
#include "recpack/base/random.h"
#include "src/base/format.h"
#include "src/loader/order/dotted_text.h"

namespace recpack {
namespace {

constexpr char kAuditName[] = "audit";
constexpr char kAuditFormat[] = "recpack-audit1";
constexpr size_t kAuditParts = 10;
constexpr size_t kSumDigits = 32;
// The first 64 bits of pi's fraction: a nothing-up-my-sleeve key.
constexpr std::array<uint32_t, 2> kKey = {0x243F6A88, 0x85A308D3};
constexpr uint32_t kDomain = 0x41554449;  // "AUDI"

std::string Hex128(const Sum128& sum) { return format("{:016x}{:016x}", sum.high, sum.low); }

Sum128 Parse128(const std::string& part) {
  Sum128 sum;
  const auto take = [&](size_t at, uint64_t& value) {
    const char* const begin = part.data() + at;
    const auto result = std::from_chars(begin, begin + kSumDigits / 2, value, 16);
    return result.ec == std::errc() && result.ptr == begin + kSumDigits / 2;
  };
  if (part.size() != kSumDigits || !take(0, sum.high) || !take(kSumDigits / 2, sum.low)) {
    throw Error(ErrorKind::kInvalidArgument, format("not the sum of an audit: '{}'", part));
  }
  return sum;
}

void Count(uint8_t& count, uint32_t more) {
  count = static_cast<uint8_t>(std::min<uint32_t>(count + more, 255));
}

}  // namespace

Sum128& Sum128::operator+=(const Sum128& other) noexcept {
  low += other.low;
  high += other.high + (low < other.low ? 1 : 0);
  return *this;
}

Sum128& Sum128::operator-=(const Sum128& other) noexcept {
  high -= other.high + (low < other.low ? 1 : 0);
  low -= other.low;
  return *this;
}

Sum128 AuditHash(uint32_t view, uint64_t id) noexcept {
  const auto hash =
      Philox({static_cast<uint32_t>(id), static_cast<uint32_t>(id >> 32), view, kDomain}, kKey);
  return {hash[0] | uint64_t{hash[1]} << 32, hash[2] | uint64_t{hash[3]} << 32};
}

void EpochAudit::KeepCounts(const Mixture& mixture) {
  counts_.clear();
  for (const View& view : mixture.views()) counts_.emplace_back(view.dataset().records());
}

void EpochAudit::Add(uint32_t view, uint64_t id) {
  AddSum(1, AuditHash(view, id));
  if (has_counts()) CountOne(view, id);
}

void EpochAudit::AddSum(uint64_t samples, const Sum128& sum) noexcept {
  samples_ += samples;
  sum_ += sum;
}

void EpochAudit::CountOne(uint32_t view, uint64_t id) noexcept { Count(counts_[view][id], 1); }

void EpochAudit::AddSubstitution(uint32_t view, uint64_t bad, uint64_t taken) noexcept {
  ++substituted_;
  change_ += AuditHash(view, taken);
  change_ -= AuditHash(view, bad);
}

void EpochAudit::Merge(const EpochAudit& other) {
  if (key_ != other.key_) {
    const char* const what = key_.digest != other.key_.digest ? "data set"
                             : key_.epoch != other.key_.epoch ? "epoch"
                             : key_.seed != other.key_.seed   ? "seed"
                                                              : "order";
    throw Error(ErrorKind::kInvalidArgument, format("the audits differ in their {}", what), {},
                "merge audits of the ranks of one epoch of one run");
  }
  samples_ += other.samples_;
  substituted_ += other.substituted_;
  sum_ += other.sum_;
  change_ += other.change_;
  const bool alike = std::ranges::equal(counts_, other.counts_, {}, &std::vector<uint8_t>::size,
                                        &std::vector<uint8_t>::size);
  if (!alike) counts_.clear();
  for (size_t view = 0; view < counts_.size(); ++view) {
    for (size_t id = 0; id < counts_[view].size(); ++id) {
      Count(counts_[view][id], other.counts_[view][id]);
    }
  }
}

Sum128 EpochAudit::SumMeant() const noexcept {
  Sum128 sum = sum_;
  return sum -= change_;
}

std::string EpochAudit::Text() const {
  return JoinDotted({kAuditFormat, std::to_string(kOrderVersion), key_.digest,
                     OrderText(key_.order), std::to_string(key_.seed), std::to_string(key_.epoch),
                     std::to_string(samples_), std::to_string(substituted_), Hex128(sum_),
                     Hex128(change_)});
}

EpochAudit EpochAudit::Parse(const std::string& text) {
  const auto parts = SplitDotted(text, kAuditName, kAuditFormat, kAuditParts);
  if (parts[1] != std::to_string(kOrderVersion)) {
    throw Error(ErrorKind::kUnsupported, format("the audit has order version {}", parts[1]), {},
                format("this program has version {}: use the one that wrote it", kOrderVersion));
  }
  EpochAudit audit({.digest = parts[2],
                    .order = ParseOrder(parts[3]),
                    .seed = DottedNumber(parts[4], kAuditName),
                    .epoch = DottedNumber(parts[5], kAuditName)});
  audit.samples_ = DottedNumber(parts[6], kAuditName);
  audit.substituted_ = DottedNumber(parts[7], kAuditName);
  audit.sum_ = Parse128(parts[8]);
  audit.change_ = Parse128(parts[9]);
  return audit;
}

}  // namespace recpack
