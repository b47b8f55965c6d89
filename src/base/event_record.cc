#include "recpack/base/event_record.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace recpack {
namespace {

constexpr size_t kNameBytes = sizeof(EventRecord) - offsetof(EventRecord, begin);

}  // namespace

EventRecord ProcessRecord(int pid) {
  EventRecord record;
  record.lane = static_cast<uint32_t>(pid);
  record.begin = EventLog::Now();
  record.value = kEventsMagic;
  return record;
}

std::vector<EventRecord> NameRecords(uint32_t number, std::string_view name) {
  std::vector<EventRecord> records;
  do {
    const std::string_view piece = name.substr(0, kNameBytes);
    EventRecord& record = records.emplace_back();
    record.kind = EventRecord::kName;
    record.flags = static_cast<uint8_t>(piece.size());
    record.name = number;
    std::copy(piece.begin(), piece.end(), reinterpret_cast<char*>(&record.begin));
    name.remove_prefix(piece.size());
  } while (!name.empty());
  return records;
}

EventRecord ToRecord(const Event& event) {
  EventRecord record;
  record.kind = static_cast<uint8_t>(event.kind);
  record.flags = static_cast<uint8_t>((event.open ? EventRecord::kOpen : 0) |
                                      static_cast<int>(event.copy) << EventRecord::kCopyShift);
  record.device = event.device;
  record.lane = event.lane;
  record.name = event.name;
  record.begin = event.begin;
  record.end = event.end;
  record.value = event.value;
  return record;
}

std::optional<Event> ToEvent(const EventRecord& record) {
  if (record.kind <= EventRecord::kName || record.kind > kLastEventKind) return {};
  const int copy = record.flags >> EventRecord::kCopyShift;
  if (copy > static_cast<int>(CopyKind::kPeerToPeer)) return {};
  return Event{.kind = static_cast<EventKind>(record.kind),
               .copy = static_cast<CopyKind>(copy),
               .open = (record.flags & EventRecord::kOpen) != 0,
               .device = record.device,
               .lane = record.lane,
               .name = record.name,
               .begin = record.begin,
               .end = record.end,
               .value = record.value};
}

std::string_view NameText(const EventRecord& record) {
  if (record.flags > kNameBytes) return {};
  return {reinterpret_cast<const char*>(&record.begin), record.flags};
}

}  // namespace recpack
