// Ranges by which the hook in Python programs reports its own figures: not ranges of the program.
// docs/format/events.md has their values.
#pragma once

#include <string_view>

#include "src/probe/events/event_reader.h"

namespace recpack::probe {

// A range in which a thread asked for the interpreter lock now and then; value: of a million times,
// those at which it had to wait.
inline constexpr char kInterpreterLock[] = "interpreter lock";
bool IsLockProbe(const TimedEvent& event);

// A range `input: KIND`: how many threads did that work in it.
inline constexpr std::string_view kInputSample = "input: ";
bool IsInputSample(const TimedEvent& event);

// The rank of a process; value: the world size above kRankSizeBits bits of rank.
inline constexpr int kRankSizeBits = 32;
bool IsRank(const TimedEvent& event);

inline bool IsOfTheHook(const TimedEvent& event) {
  return IsLockProbe(event) || IsInputSample(event) || IsRank(event);
}

}  // namespace recpack::probe
