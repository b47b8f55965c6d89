// Audit of the records that an epoch delivered, independent of order, ranks, threads and restarts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recpack/loader/mixture.h"
#include "recpack/loader/order.h"

namespace recpack {

// An unsigned 128-bit integer; arithmetic wraps around.
struct Sum128 {
  uint64_t low = 0;
  uint64_t high = 0;

  Sum128& operator+=(const Sum128& other) noexcept;
  Sum128& operator-=(const Sum128& other) noexcept;
  bool operator==(const Sum128&) const = default;
};

// Hash of a record in an audit: Philox4x32-10 of (id, view) with a fixed key. Never changes.
Sum128 AuditHash(uint32_t view, uint64_t id) noexcept;

// Identifies the epoch that an audit covers.
struct AuditKey {
  std::string digest;  // Mixture::digest()
  OrderSpec order;     // resolved: no kAuto, no block of 0 records
  uint64_t seed = 0;
  uint64_t epoch = 0;

  bool operator==(const AuditKey&) const = default;
};

// Multiset hash of the records delivered in an epoch, without padding: the sum of the records'
// hashes. Two different multisets have the same sum with probability 2^-128 times the largest power
// of two that divides all differences of their counts: below 2^-96 unless a record occurs 2^32
// times. This holds as for a random function: it protects against accidents, not against forgery.
// Uses O(1) memory without counts. See docs/format/audit.md.
class EpochAudit {
 public:
  EpochAudit() = default;
  explicit EpochAudit(AuditKey key) : key_(std::move(key)) {}

  // Also counts each record, up to 255, in one byte per record of every data set in the mixture.
  // Only counts can tell which records are missing or repeated.
  void KeepCounts(const Mixture& mixture);

  void Add(uint32_t view, uint64_t id);
  // Adds `samples` records at once, given the sum of their hashes. Does not update counts: call
  // CountOne() for each record.
  void AddSum(uint64_t samples, const Sum128& sum) noexcept;
  void CountOne(uint32_t view, uint64_t id) noexcept;
  // Notes that `taken`, which was already added, replaced the bad record `bad`.
  void AddSubstitution(uint32_t view, uint64_t bad, uint64_t taken) noexcept;

  // Adds the audit of another rank, or of an earlier part of the run. The result has counts only if
  // both have them. Throws Error (kInvalidArgument) if `other` belongs to another epoch, seed,
  // order or data set.
  void Merge(const EpochAudit& other);

  const AuditKey& key() const noexcept { return key_; }
  uint64_t samples() const noexcept { return samples_; }
  uint64_t substituted() const noexcept { return substituted_; }
  const Sum128& sum() const noexcept { return sum_; }
  // The sum that would result without substitutions.
  Sum128 SumMeant() const noexcept;
  bool has_counts() const noexcept { return !counts_.empty(); }
  // Indexed by view and ordinal.
  const std::vector<std::vector<uint8_t>>& counts() const noexcept { return counts_; }

  // Returns the audit without counts as a single line of less than 300 bytes.
  std::string Text() const;
  // Parses the result of Text(). Throws Error (kInvalidArgument) if the text is not an audit or was
  // modified.
  static EpochAudit Parse(const std::string& text);

  // Writes the line and the counts, if any, to a file. Atomic: the file is either complete or not
  // there.
  void Save(const std::string& path) const;
  // Throws Error: kNotFound; kIo; kCorrupt if the file is not an audit.
  static EpochAudit Load(const std::string& path);

  bool operator==(const EpochAudit&) const = default;

 private:
  AuditKey key_;
  uint64_t samples_ = 0;
  uint64_t substituted_ = 0;
  Sum128 sum_;
  Sum128 change_;  // change of the sum by substitutions
  std::vector<std::vector<uint8_t>> counts_;
};

// Returns the audit of the first `samples` positions of the epoch, over all ranks, with counts if
// requested. Takes O(samples) time. Throws Error (kInvalidArgument), with the reason, if the key
// does not match the mixture or if `samples` exceeds the epoch.
EpochAudit ExpectedAudit(const Mixture& mixture, const AuditKey& key, uint64_t samples,
                         bool counts = false, int threads = 0);

struct AuditDifference {
  uint32_t view = 0;
  uint64_t id = 0;
  uint32_t expected = 0;  // 255: 255 or more
  uint32_t delivered = 0;
};

// Result of comparing the merged audits of all ranks with the expected audit.
struct AuditReport {
  bool holds = false;          // each record came as often as expected, apart from substitutions
  uint64_t samples = 0;        // delivered; expected to be the first ones of the epoch
  uint64_t epoch_samples = 0;  // in the whole epoch
  uint64_t substituted = 0;
  bool has_differences = false;  // the audit has counts, which differences are found by
  // Records that did not come as often as expected, including substitutions, ordered by view and
  // id: the first ones of `differing`.
  std::vector<AuditDifference> differences;
  uint64_t differing = 0;
};

// Compares the audit with the expected one; lists at most `most_listed` differences. Throws Error
// (kInvalidArgument) if the audit does not belong to the mixture.
AuditReport CheckAudit(const Mixture& mixture, const EpochAudit& audit, size_t most_listed = 100,
                       int threads = 0);

}  // namespace recpack
