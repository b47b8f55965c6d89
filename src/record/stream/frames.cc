#include "src/record/stream/frames.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "recpack/record/framing.h"
#include "src/base/format.h"

namespace recpack {

FrameState LookAtFrame(Window& window, FrameCrcs crcs, uint64_t most_bytes, ByteView& payload,
                       std::string& reason) {
  if (!window.Ensure(kFrameHeaderBytes)) {
    if (window.bytes().empty()) return FrameState::kEnd;
    reason = format("the file ends within the header of a record, {} bytes into it",
                    window.bytes().size());
    return FrameState::kDamaged;
  }
  const uint64_t length = FrameLength(window.data());
  if (crcs != FrameCrcs::kNone && !FrameHeaderHolds(window.data())) {
    reason = "the CRC of the length does not match";
    return FrameState::kDamaged;
  }
  if (length > most_bytes - std::min(most_bytes, window.offset()) ||
      !window.Ensure(length + kFrameBytes)) {
    reason = format("the file ends within a record of {} bytes", length);
    return FrameState::kDamaged;
  }
  payload = {window.data() + kFrameHeaderBytes, length};
  if (crcs == FrameCrcs::kAll && !FramePayloadHolds(payload)) {
    reason = "the CRC of the payload does not match";
    return FrameState::kDamaged;
  }
  return FrameState::kWhole;
}

uint32_t CheckedLength(uint64_t length, const std::string& path, uint64_t offset, size_t ordinal) {
  if (length > kMaxPayloadBytes) {
    throw Error(
        ErrorKind::kUnsupported,
        format("a record of {} bytes is longer than 4 GiB, the most an index can hold", length),
        {.path = path, .offset = offset, .ordinal = ordinal});
  }
  return static_cast<uint32_t>(length);
}

FrameTable ReadFrames(Window& window, bool verify, uint64_t most_bytes, const std::string& path) {
  const FrameCrcs crcs = verify ? FrameCrcs::kAll : FrameCrcs::kOfLengths;
  FrameTable frames;
  const auto look = [&](ByteView& payload) {
    std::string reason;
    uint64_t damaged_at = window.offset();
    auto frame = FrameState::kDamaged;
    try {
      frame = LookAtFrame(window, crcs, most_bytes, payload, reason);
    } catch (const Error& error) {  // errors of a compressed stream have their place in the file
      if (error.kind() != ErrorKind::kCorrupt) throw;
      reason = error.reason();
      damaged_at = error.place().offset.value_or(damaged_at);
    }
    if (frame != FrameState::kDamaged) return frame == FrameState::kWhole;
    throw Error(ErrorKind::kCorrupt, reason,
                {.path = path, .offset = damaged_at, .ordinal = frames.lengths.size()},
                kDamageAdvice);
  };
  for (ByteView payload; look(payload);) {
    frames.lengths.push_back(
        CheckedLength(payload.size(), path, window.offset(), frames.lengths.size()));
    frames.crcs.push_back(FrameCrc(payload.data() + payload.size()));
    window.Skip(payload.size() + kFrameBytes);
  }
  return frames;
}

}  // namespace recpack
