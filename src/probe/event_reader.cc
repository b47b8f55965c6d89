#include "recpack/probe/event_reader.h"

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include "recpack/base/event_record.h"
#include "src/base/format.h"

namespace recpack {
namespace {

namespace fs = std::filesystem;

constexpr size_t kRecordsAtOnce = 4096;

// One file, as far as it was read.
struct EventFile {
  uint64_t offset = 0;
  int process = 0;
  bool damaged = false;
  std::map<uint32_t, std::string> names;

  // Returns false where what follows cannot be understood.
  bool Take(const EventRecord& record, std::vector<TimedEvent>& events) {
    if (record.kind == EventRecord::kProcess) {
      if (record.value != kEventsMagic) return false;
      process = static_cast<int>(record.lane);
      names.clear();
      return true;
    }
    if (process == 0) return false;  // it does not begin as event files do
    if (record.kind == EventRecord::kName) {
      names[record.name] += NameText(record);
      return true;
    }
    if (const auto event = ToEvent(record)) {
      const auto name = names.find(event->name);
      events.push_back({*event, process, name == names.end() ? std::string() : name->second});
    }
    return true;
  }
};

}  // namespace

struct EventReader::State {
  std::string folder;
  std::map<std::string, EventFile> files;
  std::vector<std::string> damage;
  std::vector<EventRecord> buffer = std::vector<EventRecord>(kRecordsAtOnce);

  void Read(const std::string& path, EventFile& file, std::vector<TimedEvent>& events) {
    std::ifstream stream(path, std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(file.offset));
    while (stream) {
      stream.read(reinterpret_cast<char*>(buffer.data()),
                  static_cast<std::streamsize>(buffer.size() * sizeof(EventRecord)));
      const size_t whole = static_cast<size_t>(stream.gcount()) / sizeof(EventRecord);
      for (size_t i = 0; i < whole; ++i) {
        if (!file.Take(buffer[i], events)) {
          file.damaged = true;
          damage.push_back(format("{}: no event file from byte {} on", path,
                                  file.offset + i * sizeof(EventRecord)));
          return;
        }
      }
      file.offset += whole * sizeof(EventRecord);
    }
  }
};

EventReader::EventReader(std::string folder) : state_(std::make_unique<State>()) {
  state_->folder = std::move(folder);
}

EventReader::~EventReader() = default;

std::vector<TimedEvent> EventReader::Poll() {
  std::vector<TimedEvent> events;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(state_->folder, code)) {
    if (entry.path().extension() != ".events") continue;
    EventFile& file = state_->files[entry.path()];
    if (!file.damaged) state_->Read(entry.path(), file, events);
  }
  return events;
}

const std::vector<std::string>& EventReader::damage() const noexcept { return state_->damage; }

}  // namespace recpack
