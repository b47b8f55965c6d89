#include "src/pack/check/count_records.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "src/base/format.h"

namespace recpack::pack {
namespace {

// Returns the index of the first of `surplus` consecutive records that equal, one by one, the
// records directly before them; nullopt if there is no such run.
std::optional<size_t> FindRepeatedStretch(std::span<const RecordMark> records, size_t surplus) {
  if (surplus == 0) return {};
  size_t equal = 0;  // consecutive records up to i that equal the one `surplus` before
  for (size_t i = surplus; i < records.size(); ++i) {
    equal = records[i] == records[i - surplus] ? equal + 1 : 0;
    if (equal == surplus) return i + 1 - surplus;
  }
  return {};
}

// Returns the number of lost records; nullopt if the count of any lost range is unknown.
std::optional<uint64_t> CountLost(const std::vector<LostRecords>& lost) {
  uint64_t sum = 0;
  for (const LostRecords& piece : lost) {
    if (!piece.records) return {};
    sum += *piece.records;
  }
  return sum;
}

// Reports the records that were left out, and those that are missing for them: others may have been
// copied over them.
void AddSurplus(const std::string& path, uint64_t expected, size_t left_out,
                RepairedShard& repaired) {
  uint64_t missing = expected - std::min(expected, repaired.shard.records);
  for (LostRecords& piece : repaired.lost) {  // a repeated stretch may have looked like a loss
    piece.records = std::min(piece.records.value_or(missing), missing);
    missing -= *piece.records;
  }
  std::string reason = left_out == 1
                           ? "a record occurred in it twice and is saved once"
                           : format("{} records occurred in it twice and are saved once", left_out);
  if (missing > 0) reason += ": they were copied over others, which are lost";
  repaired.lost.push_back({.path = path, .records = missing, .reason = std::move(reason)});
}

}  // namespace

std::optional<uint64_t> ExpectedRecords(const ShardEntries* known,
                                        std::optional<ListedShard> listed, uint64_t bytes) {
  if (known != nullptr &&
      (!listed || known->lengths.size() == listed->records || bytes == known->file_bytes)) {
    return known->lengths.size();
  }
  if (known == nullptr && listed && bytes != listed->bytes) return listed->records;
  return {};
}

void CompareWithCount(const std::string& path, uint64_t expected, size_t left_out,
                      const Reach& reach, std::span<const RecordMark> marks,
                      RepairedShard& repaired) {
  const uint64_t saved = repaired.shard.records;
  if (left_out > 0) return AddSurplus(path, expected, left_out, repaired);
  const std::optional<uint64_t> lost = CountLost(repaired.lost);
  const uint64_t surplus =
      saved + lost.value_or(0) > expected ? saved + lost.value_or(0) - expected : 0;
  if (surplus > 0) {
    if (const auto begin = FindRepeatedStretch(marks, surplus)) {
      repaired.surplus.resize(surplus);
      std::iota(repaired.surplus.begin(), repaired.surplus.end(), *begin);
      return;
    }
    if (saved <= expected) return;
    repaired.lost.push_back(
        {.path = path,
         .records = 0,
         .reason = format("holds {} records more than its index or manifest counts; which of them "
                          "are surplus is unknown, so all are saved",
                          saved - expected)});
  } else if (lost && saved + *lost < expected) {
    repaired.lost.push_back({.path = path,
                             .offset = reach.offset,
                             .end = reach.offset,
                             .ordinal = reach.ordinal,
                             .records = expected - saved - *lost,
                             .reason = "the shard ends before these records"});
  }
}

}  // namespace recpack::pack
