// Checks frames that were read at random against the index and their CRCs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "recpack/base/bytes.h"
#include "recpack/record/index.h"
#include "src/record/random/shard_files.h"

namespace recpack {

// `crc`: whether to compare the CRCs. Immutable; the index must outlive it.
class FrameCheck {
 public:
  FrameCheck(const Index& index, bool crc) : index_(index), crc_(crc) {}

  // `frame`: what was read at the location, which may be less than the frame. Throws Error
  // (kCorrupt), with the place, if it is not the record of the index.
  void Check(const OpenShard& shard, const RecordLocation& location, ByteView frame) const;

  // Checks a frame in the caller's memory, of which `got` bytes were read; reads it again if it is
  // damaged and that may help. Throws like Check().
  void CheckOrReadAgain(const OpenShard& shard, const RecordLocation& location,
                        std::span<uint8_t> frame, size_t got) const;

 private:
  const Index& index_;
  const bool crc_;
};

}  // namespace recpack
