#include "src/record/random/frame_check.h"

#include "recpack/base/error.h"
#include "recpack/record/framing.h"
#include "src/record/stream/frames.h"

namespace recpack {

void FrameCheck::Check(const OpenShard& shard, const RecordLocation& location,
                       ByteView frame) const {
  // Built only for errors, since it copies the path.
  const auto place = [&] {
    return Place{.path = shard.path(), .offset = location.offset, .ordinal = location.ordinal};
  };
  if (frame.size() < location.length + kFrameBytes) {
    throw Error(ErrorKind::kCorrupt, "the file ends within or before this record", place(),
                "it was truncated after it was opened; copy it again");
  }
  shard.HoldToIndex(index_, location.shard);
  if (!crc_) return;
  if (!FrameHeaderHolds(frame.data()) || FrameLength(frame.data()) != location.length) {
    throw Error(ErrorKind::kCorrupt,
                "the length or its CRC is not what the index expects: the shard is damaged, or not "
                "the one that was indexed",
                place(), "recpack verify tells which; recpack index rebuilds the index");
  }
  if (!FramePayloadHolds(frame.subspan(kFrameHeaderBytes, location.length))) {
    throw Error(ErrorKind::kCorrupt, "the CRC of the payload does not match", place(),
                kDamageAdvice);
  }
  if (location.crc &&
      FrameCrc(frame.data() + kFrameHeaderBytes + location.length) != *location.crc) {
    throw Error(
        ErrorKind::kCorrupt,
        "is another record than the one that was indexed: others were copied over it, or the "
        "shard was written anew",
        place(), "recpack verify tells which; recpack index rebuilds the index");
  }
}

void FrameCheck::CheckOrReadAgain(const OpenShard& shard, const RecordLocation& location,
                                  std::span<uint8_t> frame, size_t got) const {
  try {
    Check(shard, location, frame.first(got));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kCorrupt) throw;
    got = shard.file().ReadAgain(location.offset, frame);
    if (got == 0) throw;
    Check(shard, location, frame.first(got));
  }
}

}  // namespace recpack
