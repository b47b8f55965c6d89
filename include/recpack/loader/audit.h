// The proof of what an epoch delivered, whatever its order, ranks, threads and restarts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recpack/loader/mixture.h"
#include "recpack/loader/order.h"

namespace recpack {

// A number modulo 2^128.
struct Sum128 {
  uint64_t low = 0;
  uint64_t high = 0;

  Sum128& operator+=(const Sum128& other) noexcept;
  Sum128& operator-=(const Sum128& other) noexcept;
  bool operator==(const Sum128&) const = default;
};

// What an audit hashes a record to: Philox4x32-10 of (id, view) under a fixed key. Frozen.
Sum128 AuditHash(uint32_t view, uint64_t id) noexcept;

// Which epoch an audit is about: of what, in which order.
struct AuditKey {
  std::string digest;  // Mixture::digest()
  OrderSpec order;     // resolved
  uint64_t seed = 0;
  uint64_t epoch = 0;

  bool operator==(const AuditKey&) const = default;
};

// A multiset of the records that were delivered in an epoch, padding left out: the sum of their
// hashes. Two multisets that differ have the same sum with probability 2^-128 times the largest
// power of two that divides all differences of their counts, so below 2^-96 as long as no record
// comes 2^32 times; as for a random function, which is against accidents, not against forgers.
// O(1) in memory, but for the counts. Docs: docs/format/audit.md.
class EpochAudit {
 public:
  EpochAudit() = default;
  explicit EpochAudit(AuditKey key) : key_(std::move(key)) {}

  // Counts each record as well, up to 255, in a byte a record of every data set of the mixture:
  // only counts can say which records are missing or came again.
  void KeepCounts(const Mixture& mixture);

  void Add(uint32_t view, uint64_t id);
  // The same for `samples` records at once whose hashes' sum is `sum`; only they know which, so
  // that counts are for CountOne().
  void AddSum(uint64_t samples, const Sum128& sum) noexcept;
  void CountOne(uint32_t view, uint64_t id) noexcept;
  // Of what was added, `taken` was in the place of `bad`.
  void AddSubstitution(uint32_t view, uint64_t bad, uint64_t taken) noexcept;

  // Adds what another rank, or an earlier part of the run, delivered. Throws Error
  // (kInvalidArgument) where it is about another epoch, seed, order or data set. Without counts
  // where one of them has none.
  void Merge(const EpochAudit& other);

  const AuditKey& key() const noexcept { return key_; }
  uint64_t samples() const noexcept { return samples_; }
  uint64_t substituted() const noexcept { return substituted_; }
  const Sum128& sum() const noexcept { return sum_; }
  // The sum as it had been with no record substituted.
  Sum128 SumMeant() const noexcept;
  bool has_counts() const noexcept { return !counts_.empty(); }
  // By view and ordinal.
  const std::vector<std::vector<uint8_t>>& counts() const noexcept { return counts_; }

  // One line without the counts, below 300 bytes.
  std::string Text() const;
  // The inverse; throws Error: kInvalidArgument for what is none or was changed.
  static EpochAudit Parse(const std::string& text);

  // The line and, where there are any, the counts. The file is there whole or not at all.
  void Save(const std::string& path) const;
  // Throws Error: kNotFound, kIo; kCorrupt for what is no such file.
  static EpochAudit Load(const std::string& path);

  bool operator==(const EpochAudit&) const = default;

 private:
  AuditKey key_;
  uint64_t samples_ = 0;
  uint64_t substituted_ = 0;
  Sum128 sum_;
  Sum128 change_;  // by substitutions
  std::vector<std::vector<uint8_t>> counts_;
};

// What the first `samples` positions of the epoch hold: of all ranks together. With counts if
// asked for. O(samples) time. Throws Error (kInvalidArgument) for a key that is not of the mixture,
// with the reason, and for more samples than an epoch has.
EpochAudit ExpectedAudit(const Mixture& mixture, const AuditKey& key, uint64_t samples,
                         bool counts = false, int threads = 0);

struct AuditDifference {
  uint32_t view = 0;
  uint64_t id = 0;
  uint32_t expected = 0;  // 255: or more
  uint32_t delivered = 0;
};

// Merged audits of all ranks against what they should hold.
struct AuditReport {
  bool holds = false;          // but for substitutions, each record came as often as it should
  uint64_t samples = 0;        // delivered; they should be the epoch's first ones
  uint64_t epoch_samples = 0;  // of the whole epoch
  uint64_t substituted = 0;
  bool has_differences = false;  // there were counts to find them by
  // Of records that did not come as often as they should, substitutions included, by view and id:
  // the first ones of `differing`.
  std::vector<AuditDifference> differences;
  uint64_t differing = 0;
};

// Throws Error (kInvalidArgument) for an audit that is not of the mixture.
AuditReport CheckAudit(const Mixture& mixture, const EpochAudit& audit, size_t most_listed = 100,
                       int threads = 0);

}  // namespace recpack
