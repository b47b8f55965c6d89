// The records of event files, as docs/format/events.md has them.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "recpack/base/event_log.h"

namespace recpack {

static_assert(std::endian::native == std::endian::little, "records are little-endian");

struct EventRecord {
  // Besides those of EventKind.
  static constexpr uint8_t kProcess = 0, kName = 1;
  static constexpr uint8_t kOpen = 1;  // flags
  static constexpr uint8_t kCopyShift = 4;

  uint8_t kind = kProcess;
  uint8_t flags = 0;  // kOpen; bits 4 to 7: CopyKind. kName: bytes of text in this record
  uint16_t device = Event::kNoDevice;
  uint32_t lane = 0;
  uint32_t name = 0;
  uint32_t reserved = 0;
  int64_t begin = 0;
  int64_t end = 0;
  uint64_t value = 0;
};
static_assert(sizeof(EventRecord) == 40);

// The first of a file: `begin` is the time, `value` the magic number and `lane` the process.
inline constexpr uint64_t kEventsMagic = 0x31545645'4b504352;  // "RCPKEVT1"

EventRecord ProcessRecord(int pid);
// The text of a name, in as many as it takes.
std::vector<EventRecord> NameRecords(uint32_t number, std::string_view name);
EventRecord ToRecord(const Event& event);
// Nothing where the record is of no event, or of a kind that is not known here.
std::optional<Event> ToEvent(const EventRecord& record);
// The part of a name that a kName record holds; empty where it says more than fits.
std::string_view NameText(const EventRecord& record);

}  // namespace recpack
