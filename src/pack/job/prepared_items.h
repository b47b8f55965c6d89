// Records made ready to be written by another thread.
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
  ByteView frame = {};                   // whole, with its CRCs; empty where the item failed
  std::exception_ptr read_error = {};    // of the source: the item may be skipped
  std::exception_ptr encode_error = {};  // what was read makes no record
};

// Some items of one split and, once prepared, their records. Keeps its memory from use to use.
class PreparedItems {
 public:
  // Forgets the items before.
  void Start(size_t split);

  void Add(uint64_t item) { items_.push_back({.item = item}); }

  // Reads and encodes every item. Errors of items are kept with them.
  void Prepare(ItemReader& reader, Sample& sample);

  const std::vector<PreparedItem>& items() const { return items_; }
  size_t size() const { return items_.size(); }
  uint64_t bytes() const { return used_; }  // of all records

 private:
  void Encode(Sample& sample, PreparedItem& item);

  size_t split_ = 0;
  std::vector<PreparedItem> items_;
  std::vector<size_t> ends_;  // of the frames in frames_
  ByteBuffer frames_;         // longer than used_: growing it anew for each batch would clear it
  size_t used_ = 0;
};

}  // namespace recpack::pack
