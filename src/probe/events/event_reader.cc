#include "src/probe/events/event_reader.h"

#include <fcntl.h>
#include <signal.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include "recpack/base/descriptor.h"
#include "recpack/base/event_record.h"
#include "src/base/format.h"

namespace recpack::probe {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr size_t kRecordsAtOnce = 4096;
constexpr uint64_t kPollsBetween = 64;                // for files of processes that have ended
constexpr uint64_t kFreedAtOnce = uint64_t{1} << 20;  // bytes, at least
constexpr uint64_t kBlock = 4096;
constexpr std::chrono::seconds kUnchangedFor(3);  // folder times may have a resolution of seconds

bool IsRunning(int process) { return ::kill(process, 0) == 0 || errno != ESRCH; }

// State of reading one file.
struct EventFile {
  uint64_t offset = 0;
  uint64_t freed = 0;     // bytes whose disk space was freed
  uint64_t may_free = 0;  // bytes that had been read at `marked`
  Clock::time_point marked = Clock::now();
  int process = 0;
  bool damaged = false;
  bool growing = true;  // more records are expected
  std::map<uint32_t, std::string> names;

  // Returns false if the record is invalid.
  bool Take(const EventRecord& record, std::vector<TimedEvent>& events) {
    if (record.kind == EventRecord::kProcess) {
      if (record.value != kEventsMagic) return false;
      process = static_cast<int>(record.lane);
      names.clear();
      return true;
    }
    if (process == 0) return false;  // the file does not begin with a process record
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

  // Punches holes, which keep the file size and so do not disturb the writer.
  void FreeWhatWasRead(const std::string& path, std::chrono::seconds after) {
    const Clock::time_point now = Clock::now();
    if (now - marked < after) return;
    if (may_free - freed >= kFreedAtOnce) {
      Free(path);
      freed = may_free;
    }
    may_free = offset / kBlock * kBlock;
    marked = now;
  }

  void Free(const std::string& path) const {
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.get() < 0) return;
    ::fallocate(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(freed),
                static_cast<off_t>(may_free - freed));
  }
};

}  // namespace

struct EventReader::State {
  using Files = std::map<std::string, EventFile>;

  State(std::string path, std::optional<std::chrono::seconds> after)
      : folder(std::move(path)), free_after(after) {}

  const std::string folder;
  const std::optional<std::chrono::seconds> free_after;
  fs::file_time_type folder_changed;  // its modification time when it was last listed
  Files files;
  std::vector<Files::value_type*> growing;
  uint64_t polls = 0;
  std::vector<std::string> damage;
  std::vector<EventRecord> buffer = std::vector<EventRecord>(kRecordsAtOnce);

  void ListIfChanged() {
    std::error_code code;
    const fs::file_time_type changed = fs::last_write_time(folder, code);
    const auto for_time = fs::file_time_type::clock::now() - changed;
    if (code || changed != folder_changed || for_time < kUnchangedFor) ListFiles();
  }

  void ListFiles() {
    std::error_code code;
    const fs::file_time_type changed = fs::last_write_time(folder, code);
    for (const auto& entry : fs::directory_iterator(folder, code)) {
      if (entry.path().extension() != ".events") continue;
      const auto [file, is_new] = files.try_emplace(entry.path());
      if (is_new) growing.push_back(&*file);
    }
    if (!code) folder_changed = changed;
  }

  void ReadGrowing(std::vector<TimedEvent>& events, size_t most) {
    std::erase_if(growing, [&](Files::value_type* entry) {
      auto& [path, file] = *entry;
      if (events.size() >= most) return false;
      // Checked before reading, so that the last records of a process that ends are not missed.
      const bool running = file.process == 0 || IsRunning(file.process);
      const uint64_t read_before = file.offset;
      Read(path, file, events, most);
      file.growing = !file.damaged && (running || file.offset > read_before);
      return !file.growing;
    });
  }

  // A PID may be reused, or be from another namespace: the process may still write.
  void ReadOthers(std::vector<TimedEvent>& events) {
    for (auto& entry : files) {
      auto& [path, file] = entry;
      if (file.growing || file.damaged) continue;
      const uint64_t read_before = file.offset;
      Read(path, file, events, SIZE_MAX);
      file.growing = !file.damaged && file.offset > read_before;
      if (file.growing) growing.push_back(&entry);
    }
  }

  // Notes a pipe, where reading would wait, or a device, which may have no end. Ignores a file that
  // no longer exists.
  void NoteUnreadable(const std::string& path, EventFile& file) {
    std::error_code code;
    if (!fs::exists(fs::symlink_status(path, code))) return;
    file.damaged = true;
    damage.push_back(path + ": not a regular file");
  }

  void Read(const std::string& path, EventFile& file, std::vector<TimedEvent>& events,
            size_t most) {
    std::error_code code;
    // Most files have not grown, and stat() is cheaper than open().
    const uint64_t size = fs::file_size(path, code);
    if (code) return NoteUnreadable(path, file);
    if (size <= file.offset) return;
    std::ifstream stream(path, std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(file.offset));
    while (stream && events.size() < most) {
      stream.read(reinterpret_cast<char*>(buffer.data()),
                  static_cast<std::streamsize>(buffer.size() * sizeof(EventRecord)));
      const size_t whole = static_cast<size_t>(stream.gcount()) / sizeof(EventRecord);
      for (size_t i = 0; i < whole; ++i) {
        if (!file.Take(buffer[i], events)) {
          file.damaged = true;
          damage.push_back(
              format("{}: invalid record at byte {}", path, file.offset + i * sizeof(EventRecord)));
          return;
        }
      }
      file.offset += whole * sizeof(EventRecord);
    }
    if (free_after) file.FreeWhatWasRead(path, *free_after);
  }
};

EventReader::EventReader(std::string folder, std::optional<std::chrono::seconds> free_after)
    : state_(std::make_unique<State>(std::move(folder), free_after)) {}

EventReader::~EventReader() = default;

std::vector<TimedEvent> EventReader::Poll(size_t most) {
  if (++state_->polls % kPollsBetween == 0 && most == SIZE_MAX) return PollAll();
  std::vector<TimedEvent> events;
  state_->ListIfChanged();
  state_->ReadGrowing(events, most);
  return events;
}

void EventReader::PollParts(const std::function<void(const std::vector<TimedEvent>& part)>& take) {
  constexpr size_t kAtOnce = 1'000'000;
  for (size_t read = kAtOnce; read >= kAtOnce;) {
    const std::vector<TimedEvent> part = Poll(kAtOnce);
    take(part);
    read = part.size();
  }
}

std::vector<TimedEvent> EventReader::PollAll() {
  std::vector<TimedEvent> events;
  state_->ListFiles();
  state_->ReadGrowing(events, SIZE_MAX);
  state_->ReadOthers(events);
  return events;
}

const std::vector<std::string>& EventReader::damage() const noexcept { return state_->damage; }

}  // namespace recpack::probe
