// Ranges in which the Python hook reports its own measurements. They are not ranges of the program.
// docs/format/events.md describes their values.
#pragma once

#include <string_view>

#include "src/probe/events/event_reader.h"

namespace recpack::probe {

// A range in which a thread requested the interpreter lock at intervals. Value: the requests that
// had to wait, per million.
inline constexpr char kInterpreterLock[] = "interpreter lock";
inline bool IsLockProbe(const TimedEvent& event) {
  return event.event.kind == EventKind::kRange && event.name == kInterpreterLock;
}

// A range `input: KIND`, or `input: own KIND` of the training thread. Value: the number of threads
// that did this kind of work.
inline constexpr std::string_view kInputSample = "input: ";
inline bool IsInputSample(const TimedEvent& event) {
  return event.event.kind == EventKind::kRange && event.name.starts_with(kInputSample);
}

// A range `line<tab>ROLE<tab>...`, of a place in the program's code. Value: the threads that were
// there.
inline constexpr std::string_view kLineSample = "line\t";
inline bool IsLineSample(const TimedEvent& event) {
  return event.event.kind == EventKind::kRange && event.name.starts_with(kLineSample);
}

// The rank of a process. Value: the world size shifted left by kRankSizeBits, plus the rank.
inline constexpr int kRankSizeBits = 32;
inline bool IsRank(const TimedEvent& event) {
  return event.event.kind == EventKind::kRange && event.name == "rank" &&
         event.event.begin == event.event.end && event.event.value >> kRankSizeBits > 1;
}

// The process whose code started this one by Python's multiprocessing. Value: its number.
inline bool IsParent(const TimedEvent& event) {
  return event.event.kind == EventKind::kRange && event.name == "parent process" &&
         event.event.begin == event.event.end;
}

// The settings of a process's input: a range `input settings`, or `input settings<tab>FILE:LINE`.
// Value: docs/format/events.md.
inline constexpr std::string_view kInputSettings = "input settings";
inline constexpr std::string_view kInputSettingsAt = "input settings\t";
inline bool IsInputSettings(const TimedEvent& event) {
  return event.event.kind == EventKind::kRange && event.event.begin == event.event.end &&
         (event.name == kInputSettings || event.name.starts_with(kInputSettingsAt));
}

// The wait of a rank for the others' gradients after its own backward pass, of one step. Value: the
// time of its own passes [ns].
inline bool IsGradientExchange(const TimedEvent& event) {
  return event.event.kind == EventKind::kRange && event.name == "gradient exchange";
}

inline bool IsHookRange(const TimedEvent& event) {
  return IsLockProbe(event) || IsInputSample(event) || IsLineSample(event) || IsRank(event) ||
         IsInputSettings(event) || IsParent(event) || IsGradientExchange(event);
}

}  // namespace recpack::probe
