#include "recpack/base/event_log.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "recpack/base/clock.h"
#include "recpack/base/descriptor.h"
#include "recpack/base/event_record.h"
#include "src/base/format.h"

namespace recpack {
namespace {

constexpr int64_t kLongestDelay = 100'000'000;  // ns between flushes
constexpr size_t kBuffered = 1024;              // records

thread_local bool fetches_ahead = false;
thread_local uint32_t thread_lane = 0;  // 0: not known yet

Event InputWait(EventLog* log, uint16_t device) {
  Event event{.kind = EventKind::kInputWait, .device = device};
  if (log == nullptr) return event;
  event.lane = EventLog::ThreadLane();
  if (fetches_ahead) {
    event.kind = EventKind::kRange;
    event.name = log->Name(kFetchedAhead);
  }
  return event;
}

}  // namespace

struct EventLog::State {
  State(Descriptor opened, int of) : file(std::move(opened)), pid(of) {}

  void Flush() noexcept {
    const auto* data = reinterpret_cast<const char*>(records.data());
    size_t left = records.size() * sizeof(EventRecord);
    while (left > 0) {
      const ssize_t written = ::write(file.get(), data, left);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) {
        lost = true;  // the file may end within a record: nothing after it could be read
        break;
      }
      data += written;
      left -= static_cast<size_t>(written);
    }
    records.clear();
    flushed = Now();
  }

  void Add(const EventRecord& record) {
    if (lost) return;
    records.push_back(record);
    if (records.size() == kBuffered) Flush();
  }

  const Descriptor file;
  const int pid;
  std::mutex mutex;  // guards the members below
  std::vector<EventRecord> records;
  std::map<std::string, uint32_t, std::less<>> names;
  int64_t flushed = 0;
  bool lost = false;
};

std::unique_ptr<EventLog> EventLog::Open(const std::string& writer) {
  const char* folder = std::getenv("RECPACK_EVENTS");
  if (folder == nullptr || *folder == '\0') return nullptr;
  const int pid = ::getpid();
  const std::string path = format("{}/{}-{}.events", folder, pid, writer);
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (file.get() < 0) return nullptr;
  auto state = std::make_unique<State>(std::move(file), pid);
  state->records.reserve(kBuffered);
  state->Add(ProcessRecord(pid));
  state->Flush();
  return std::unique_ptr<EventLog>(new EventLog(std::move(state)));
}

EventLog* EventLog::OfProcess() {
  // Never destroyed: threads may write while the process exits. A child of fork() does not use its
  // parent's log, whose mutex may be locked forever.
  static std::atomic<EventLog*> log = nullptr;
  static const bool opened = [] {
    log = Open("recpack").release();
    ::pthread_atfork(nullptr, nullptr, [] {
      thread_lane = 0;  // the child's thread has its own id
      log = Open("recpack").release();
    });
    std::atexit([] {
      if (EventLog* last = log) last->Flush();
    });
    return true;
  }();
  return opened ? log.load(std::memory_order_acquire) : nullptr;
}

int64_t EventLog::Now() noexcept { return static_cast<int64_t>(MonotonicNow()); }

uint32_t EventLog::ThreadLane() noexcept {
  if (thread_lane == 0) thread_lane = static_cast<uint32_t>(::syscall(SYS_gettid));
  return thread_lane;
}

EventLog::EventLog(std::unique_ptr<State> state) : state_(std::move(state)) {}

EventLog::~EventLog() { Flush(); }

void EventLog::Flush() noexcept {
  const std::lock_guard lock(state_->mutex);
  state_->Flush();
}

uint32_t EventLog::Name(std::string_view name) {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  if (const auto found = state.names.find(name); found != state.names.end()) return found->second;
  const auto number = static_cast<uint32_t>(state.names.size() + 1);
  state.names.emplace(name, number);
  for (const EventRecord& record : NameRecords(number, name)) state.Add(record);
  return number;
}

void EventLog::Write(const Event& event) noexcept {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  state.Add(ToRecord(event));  // does not allocate: the capacity was reserved
  const int64_t last = std::max(event.begin, event.end);
  if (event.open || last - state.flushed > kLongestDelay) state.Flush();
}

InputWaitSpan::InputWaitSpan(uint16_t device)
    : span_(EventLog::OfProcess(), InputWait(EventLog::OfProcess(), device), true) {}

void InputWaitSpan::ThisThreadFetchesAhead() noexcept { fetches_ahead = true; }

}  // namespace recpack
