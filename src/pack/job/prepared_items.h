// Records that are encoded by one thread and written by another.
#pragma once

#include <cstdint>
#include <exception>
#include <vector>

#include "recpack/base/bytes.h"
#include "src/pack/item/source.h"

namespace recpack::pack {

struct PreparedItem {
  uint64_t item = 0;
  int64_t label = -1;
  ByteView frame = {};                   // complete, with CRCs; empty if the item failed
  std::exception_ptr read_error = {};    // from the source: the item may be skipped
  std::exception_ptr encode_error = {};  // the sample cannot be encoded as a record
};

// A batch of items of one split and, once prepared, their records. Reuses its memory.
class PreparedItems {
 public:
  // Starts a new batch.
  void Start(size_t split);

  void Add(uint64_t item) { items_.push_back({.item = item}); }

  // Reads and encodes every item. Errors are stored with their items.
  void Prepare(ItemReader& reader, Sample& sample);

  const std::vector<PreparedItem>& items() const { return items_; }
  size_t size() const { return items_.size(); }
  uint64_t bytes() const { return used_; }  // total size of the records

 private:
  void Encode(Sample& sample, PreparedItem& item);

  size_t split_ = 0;
  std::vector<PreparedItem> items_;
  std::vector<size_t> ends_;  // of the frames in frames_
  ByteBuffer frames_;         // may be longer than used_, so that a new batch does not clear it
  size_t used_ = 0;
};

}  // namespace recpack::pack
