#include "src/record/stream/frame_lengths.h"

#include "recpack/base/error.h"
#include "recpack/record/framing.h"
#include "src/base/format.h"
#include "src/record/stream/frame_look.h"

namespace recpack {

uint32_t CheckedLength(uint64_t length, const std::string& path, uint64_t offset, size_t ordinal) {
  if (length > kMaxPayloadBytes) {
    throw Error(
        ErrorKind::kUnsupported,
        format("a record of {} bytes is longer than 4 GiB, the most an index can hold", length),
        {.path = path, .offset = offset, .ordinal = ordinal});
  }
  return static_cast<uint32_t>(length);
}

std::vector<uint32_t> ReadLengths(Window& window, bool verify, uint64_t most_bytes,
                                  const std::string& path) {
  const FrameCrcs crcs = verify ? FrameCrcs::kAll : FrameCrcs::kOfLengths;
  std::vector<uint32_t> lengths;
  const auto look = [&](ByteView& payload) {
    std::string reason;
    uint64_t damaged_at = window.offset();
    auto frame = FrameState::kDamaged;
    try {
      frame = LookAtFrame(window, crcs, most_bytes, payload, reason);
    } catch (const Error& error) {  // a compressed stream that breaks knows its place in the file
      if (error.kind() != ErrorKind::kCorrupt) throw;
      reason = error.reason();
      damaged_at = error.place().offset.value_or(damaged_at);
    }
    if (frame != FrameState::kDamaged) return frame == FrameState::kWhole;
    throw Error(ErrorKind::kCorrupt, reason,
                {.path = path, .offset = damaged_at, .ordinal = lengths.size()}, kDamageAdvice);
  };
  for (ByteView payload; look(payload);) {
    lengths.push_back(CheckedLength(payload.size(), path, window.offset(), lengths.size()));
    window.Skip(payload.size() + kFrameBytes);
  }
  return lengths;
}

}  // namespace recpack
