// Parser of the frames in a Window: payloads, damage, and entries for an index.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recpack/base/bytes.h"
#include "src/record/stream/window.h"

namespace recpack {

// Advice for errors about damaged shards.
inline constexpr char kDamageAdvice[] =
    "recpack verify lists all damage, recpack repair recovers the intact records";

enum class FrameState { kWhole, kEnd, kDamaged };

enum class FrameCrcs { kNone, kOfLengths, kAll };

// Sets `payload` if the frame is whole (valid as long as the window's bytes) and `reason` if it is
// damaged. `crcs`: the CRCs to check. `most_bytes`: upper limit of the stream's size; frames that
// exceed it are not read. Throws Error (kCorrupt) if a compressed stream is damaged.
FrameState LookAtFrame(Window& window, FrameCrcs crcs, uint64_t most_bytes, ByteView& payload,
                       std::string& reason);

// Returns `length` as an index stores it. Throws Error (kUnsupported), with the given place, if it
// is too long for an index.
uint32_t CheckedLength(uint64_t length, const std::string& path, uint64_t offset, size_t ordinal);

struct FrameTable {
  std::vector<uint32_t> lengths;  // payload bytes
  std::vector<uint32_t> crcs;     // masked CRCs of the payloads, as the frames store them
};

// Returns what an index holds of all frames from the start of the window to the end of its source.
// Checks the CRCs of lengths, and with `verify` those of payloads. `most_bytes`: upper limit of the
// stream's size. Throws Error with the place in the file `path`: kCorrupt at the first damage, and
// as CheckedLength().
FrameTable ReadFrames(Window& window, bool verify, uint64_t most_bytes, const std::string& path);

}  // namespace recpack
