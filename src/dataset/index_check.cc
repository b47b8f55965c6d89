#include "src/dataset/index_check.h"

#include <utility>

#include "src/base/format.h"

namespace recpack {

IndexCheck::IndexCheck(const IndexedShards* indexed, const std::string& file, uint64_t file_bytes)
    : indexed_(indexed) {
  const auto number = indexed_ ? indexed_->Find(file) : std::nullopt;
  if (number) summary_ = indexed_->index().shard(*number);
  if (!number || summary_.file_bytes != file_bytes) indexed_ = nullptr;
}

void IndexCheck::See(const Record& record) {
  if (indexed_ == nullptr) return;
  if (record.ordinal < summary_.records) {
    const RecordLocation at = indexed_->index().Locate(summary_.first_record + record.ordinal);
    if (at.offset == record.offset && at.length == record.payload.size()) return;
  }
  Note(record.ordinal, format("has not the place and length that it has in {}", summary_.name));
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
