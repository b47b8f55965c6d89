// Looks at the frame that a Window begins with.
#pragma once

#include <string>

#include "recpack/base/bytes.h"
#include "src/record/stream/window.h"

namespace recpack {

// What a user can do about a damaged shard.
inline constexpr char kDamageAdvice[] =
    "recpack verify lists all damage, recpack repair saves what is whole";

enum class FrameState { kWhole, kEnd, kDamaged };

enum class FrameCrcs { kNone, kOfLengths, kAll };

// Fills `payload` where the frame is whole, which lasts as long as the window's bytes, and `reason`
// where it is damaged. `crcs`: those that are checked. `most_bytes`: that the stream can have; only
// what it could hold is asked for. Throws Error (kCorrupt) where a compressed stream breaks.
FrameState LookAtFrame(Window& window, FrameCrcs crcs, uint64_t most_bytes, ByteView& payload,
                       std::string& reason);

}  // namespace recpack
