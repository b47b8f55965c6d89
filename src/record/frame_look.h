// Looks at the frame that a Window begins with.
#pragma once

#include <string>

#include "recpack/base/bytes.h"
#include "src/record/window.h"

namespace recpack {

enum class FrameState { kWhole, kEnd, kDamaged };

// Fills `payload` where the frame is whole, which lasts as long as the window's bytes, and `reason`
// where it is damaged. CRCs are looked at where `verify` says so. `most_bytes`: that the stream can
// have; only what it could hold is asked for. Throws Error (kCorrupt) where a compressed stream
// breaks.
FrameState LookAtFrame(Window& window, bool verify, uint64_t most_bytes, ByteView& payload,
                       std::string& reason);

}  // namespace recpack
