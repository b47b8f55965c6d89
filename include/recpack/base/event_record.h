// Binary records of event files (docs/format/events.md).
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
  // Kinds in addition to EventKind.
  static constexpr uint8_t kProcess = 0, kName = 1;
  static constexpr uint8_t kOpen = 1;  // flags
  static constexpr uint8_t kCopyShift = 4;

  uint8_t kind = kProcess;
  uint8_t flags = 0;  // kOpen; bits 4 to 7: CopyKind. For kName: bytes of text in this record
  uint16_t device = Event::kNoDevice;
  uint32_t lane = 0;
  uint32_t name = 0;
  uint32_t reserved = 0;
  int64_t begin = 0;
  int64_t end = 0;
  uint64_t value = 0;
};
static_assert(sizeof(EventRecord) == 40);

// The first record of a file is a kProcess record: `begin` is the time, `value` the magic number
// and `lane` the process id.
inline constexpr uint64_t kEventsMagic = 0x31545645'4b504352;  // "RCPKEVT1"

EventRecord ProcessRecord(int pid);
// Returns the kName records that hold the text of a name.
std::vector<EventRecord> NameRecords(uint32_t number, std::string_view name);
EventRecord ToRecord(const Event& event);
// Returns nullopt if the record is not an event or its kind is unknown.
std::optional<Event> ToEvent(const EventRecord& record);
// Returns the text in a kName record; empty if its length exceeds the record.
std::string_view NameText(const EventRecord& record);

}  // namespace recpack
