#include "src/shards/index/index_check.h"

#include <algorithm>
#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/shards/layout/split_folders.h"

namespace recpack {

IndexCheck::IndexCheck(const IndexedShards* indexed, const std::string& path, uint64_t file_bytes)
    : indexed_(indexed) {
  const auto number = indexed_ ? indexed_->Find(ShardName(path)) : std::nullopt;
  if (number) summary_ = indexed_->index().shard(*number);
  if (!number || summary_.file_bytes != file_bytes) {
    indexed_ = nullptr;
  } else if (summary_.compression != Compression::kNone &&
             !indexed_->index().Entries(*number).flush_points.empty()) {
    at_random_.emplace(
        indexed_->index(), [path](size_t) { return path; }, RandomAccessOptions{.verify = false});
  }
}

void IndexCheck::See(const Record& record) {
  if (indexed_ == nullptr) return;
  if (record.ordinal < summary_.records) {
    const RecordLocation at = indexed_->index().Locate(summary_.first_record + record.ordinal);
    if (at.offset == record.offset && at.length == record.payload.size()) {
      if (at_random_ && !IsSameAtRandom(record)) {
        Note(record.ordinal,
             format("has flush points that give another record of {}", summary_.name));
      }
      return;
    }
  }
  Note(record.ordinal, format("has another location or length than in {}", summary_.name));
}

bool IndexCheck::IsSameAtRandom(const Record& record) {
  try {
    return std::ranges::equal(at_random_->Get(summary_.first_record + record.ordinal).payload(),
                              record.payload);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kCorrupt) return false;
    if (error.kind() != ErrorKind::kUnsupported) throw;
    at_random_.reset();  // flush points too far apart for random access
    return true;
  }
}

void IndexCheck::Finish(uint64_t records) {
  if (indexed_ == nullptr || records >= summary_.records) return;
  Note(records, format("lists it, but {} ends before it", summary_.name));
}

void IndexCheck::Note(uint64_t ordinal, std::string reason) {
  difference_ = {.ordinal = ordinal, .reason = std::move(reason) + "; run `recpack index`"};
  indexed_ = nullptr;
}

}  // namespace recpack
