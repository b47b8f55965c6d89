#include "src/record/stream/frame_look.h"

#include <algorithm>

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

}  // namespace recpack
