#include "src/loader/batch/batch_maker.h"

#include "src/loader/batch/batch_worker.h"
#include "src/loader/batch/ragged_rows.h"

namespace recpack {

Batch BatchMaker::Make(const BatchFacts& facts, std::string token, const BatchMemory& memory,
                       std::shared_ptr<void> hold) const {
  Batch batch;
  batch.arrays_ = arrays_;
  batch.epoch_ = facts.epoch;
  batch.number_ = facts.number;
  batch.size_ = facts.size;
  batch.token_ = std::move(token);
  batch.hold_ = std::move(hold);
  batch.slab_ = std::shared_ptr<const uint8_t>(memory.slab, memory.bytes());
  batch.ids_ = &memory.ids;
  batch.views_ = &memory.views;
  batch.mask_ = &memory.mask;
  return batch;
}

size_t Batch::Rows(size_t array) const noexcept {
  return RowsOf(*arrays_, array, size_, slab_.get());
}

size_t Batch::Bytes(size_t array) const noexcept {
  return Rows(array) * RowBytes((*arrays_)[array]);
}

const void* Batch::Raw(const std::string& name) const {
  return slab_.get() + FindArray(*arrays_, name).offset;
}

}  // namespace recpack
