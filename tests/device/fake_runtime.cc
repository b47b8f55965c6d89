#include "tests/device/fake_runtime.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <optional>
#include <thread>

#include "recpack/base/random.h"
#include "src/base/format.h"
#include "src/device/errors.h"

namespace recpack {

struct FakeRuntime::Range {
  const void* begin;
  size_t bytes;
  bool write;
};

struct FakeRuntime::Op {
  Stream* stream;
  std::function<void()> work;
  std::vector<Range> ranges;
  std::vector<std::shared_ptr<Op>> needs;
  bool done = false;
};

struct FakeRuntime::Stream {
  int device;
  int number;
  Clock clock;
  std::deque<std::shared_ptr<Op>> pending;  // not done; the first one may be running
  std::shared_ptr<Op> last;
  std::jthread thread;  // kThreads
};

struct FakeRuntime::Event {
  int device;
  std::shared_ptr<Op> recorded;
  Clock clock;
};

struct FakeRuntime::Access {
  const uint8_t* begin;
  const uint8_t* end;
  bool write;
  int stream;
  uint64_t number;  // in the stream
  Clock clock;      // operations done before it
  std::string name;
};

namespace {

void Join(std::map<int, uint64_t>& clock, const std::map<int, uint64_t>& other) {
  for (const auto& [stream, number] : other) {
    clock[stream] = std::max(clock[stream], number);
  }
}

// Hidden from ThreadSanitizer.
__attribute__((no_sanitize("thread"))) std::vector<uint8_t> ReadUnwatched(const uint8_t* from,
                                                                          size_t bytes) {
  std::vector<uint8_t> read(bytes);
  uint8_t* const to = read.data();
  const volatile uint8_t* const at = from;
  for (size_t i = 0; i < bytes; ++i) to[i] = at[i];
  return read;
}

bool Knows(const std::map<int, uint64_t>& clock, int stream, uint64_t number) {
  const auto at = clock.find(stream);
  return at != clock.end() && at->second >= number;
}

}  // namespace

FakeRuntime::FakeRuntime(int devices, Mode mode, size_t memory)
    : devices_(devices), mode_(mode), memory_(memory) {}

FakeRuntime::~FakeRuntime() {
  {
    const std::lock_guard lock(mutex_);
    for (auto& [handle, stream] : streams_) stream->thread.request_stop();
  }
  changed_.notify_all();
  for (auto& [handle, stream] : streams_) {
    if (stream->thread.joinable()) stream->thread.join();
  }
}

void FakeRuntime::FailCall(const std::string& call, int nth) {
  const std::lock_guard lock(mutex_);
  failing_[call].insert(nth);
}

std::vector<std::string> FakeRuntime::violations() {
  const std::lock_guard lock(violations_mutex_);
  return violations_;
}

void FakeRuntime::Violate(const std::string& what) {
  const std::lock_guard lock(violations_mutex_);
  violations_.push_back(what);
}

int FakeRuntime::waits(WaitPoint point) {
  const std::lock_guard lock(mutex_);
  return waits_[point];
}

int FakeRuntime::calls(const std::string& call) {
  const std::lock_guard lock(mutex_);
  return calls_[call];
}

std::string FakeRuntime::leaks() {
  const std::lock_guard lock(mutex_);
  if (streams_.empty() && events_.empty() && device_memory_.empty() && pinned_.empty()) return "";
  return format("{} streams, {} events, {} allocations, {} pins", streams_.size(), events_.size(),
                device_memory_.size(), pinned_.size());
}

DeviceCount FakeRuntime::Count() { return {devices_, devices_ == 0 ? "no fake device" : ""}; }

DeviceInfo FakeRuntime::Info(int device) { return {format("fake {}", device), "", memory_}; }

// Call with the mutex held: counts the call and fails if a failure was requested.
void FakeRuntime::Call(const std::string& call, int device) {
  const int nth = calls_[call]++;
  if (failing_[call].count(nth) > 0)
    throw DeviceError(call, device, "a failure that was asked for");
}

void* FakeRuntime::Allocate(int device, size_t bytes) {
  const std::lock_guard lock(mutex_);
  Call("cudaMalloc", device);
  if (used_ + bytes > memory_)
    throw DeviceMemoryError("cudaMalloc", device, bytes, "out of memory");
  used_ += bytes;
  std::vector<uint8_t> memory(bytes + 256, 0xee);
  uint8_t* const aligned = memory.data() + 256 - reinterpret_cast<uintptr_t>(memory.data()) % 256;
  device_memory_[aligned] = {device, std::move(memory)};
  return aligned;
}

void FakeRuntime::Free(int, void* memory) noexcept {
  const std::lock_guard lock(mutex_);
  const auto at = device_memory_.find(memory);
  if (at == device_memory_.end()) return Violate("free of memory that is not there");
  const size_t bytes = at->second.second.size() - 256;
  CheckUnused("free", memory, bytes);
  used_ -= bytes;
  device_memory_.erase(at);
}

void FakeRuntime::Pin(void* memory, size_t bytes) {
  const std::lock_guard lock(mutex_);
  calls_["cudaHostRegister"]++;
  if (failing_["cudaHostRegister"].count(calls_["cudaHostRegister"] - 1) > 0) {
    throw PinError("cudaHostRegister", bytes, "a failure that was asked for");
  }
  pinned_[memory] = bytes;
}

void FakeRuntime::Unpin(void* memory) noexcept {
  const std::lock_guard lock(mutex_);
  const auto at = pinned_.find(memory);
  if (at == pinned_.end()) return Violate("unpin of memory that is not pinned");
  CheckUnused("unpin", memory, at->second);
  pinned_.erase(at);
}

DeviceStream FakeRuntime::CreateStream(int device) {
  const std::lock_guard lock(mutex_);
  Call("cudaStreamCreateWithFlags", device);
  auto stream = std::make_shared<Stream>();
  stream->device = device;
  stream->number = streams_made_++;
  const auto handle = reinterpret_cast<DeviceStream>(stream.get());
  if (mode_ == Mode::kThreads) {
    stream->thread = std::jthread(
        [this, at = stream.get()](std::stop_token stop) { RunStream(*at, std::move(stop)); });
  }
  streams_[handle] = std::move(stream);
  return handle;
}

void FakeRuntime::DestroyStream(int, DeviceStream handle) noexcept {
  std::shared_ptr<Stream> stream;
  {
    std::unique_lock lock(mutex_);
    stream = streams_[handle];
    // As in CUDA, enqueued work is still done.
    if (stream->last) WaitFor(lock, stream->last);
    streams_.erase(handle);
    stream->thread.request_stop();
  }
  changed_.notify_all();
}

DeviceEvent FakeRuntime::CreateEvent(int device) {
  const std::lock_guard lock(mutex_);
  Call("cudaEventCreateWithFlags", device);
  auto event = std::make_shared<Event>();
  event->device = device;
  const auto handle = reinterpret_cast<DeviceEvent>(event.get());
  events_[handle] = std::move(event);
  return handle;
}

void FakeRuntime::DestroyEvent(int, DeviceEvent event) noexcept {
  const std::lock_guard lock(mutex_);
  if (events_.erase(event) == 0) Violate("an event was destroyed twice");
}

FakeRuntime::Stream& FakeRuntime::StreamOf(int device, DeviceStream handle) {
  const auto at = streams_.find(handle);
  if (at == streams_.end()) {
    Violate("a call on a stream that is not there");
    throw DeviceError("stream", device, "invalid resource handle");
  }
  if (at->second->device != device) Violate("a call on another device's stream");
  return *at->second;
}

FakeRuntime::Event& FakeRuntime::EventOf(DeviceEvent handle) {
  const auto at = events_.find(handle);
  if (at == events_.end()) {
    Violate("a call on an event that is not there");
    throw DeviceError("event", -1, "invalid resource handle");
  }
  return *at->second;
}

std::shared_ptr<FakeRuntime::Op> FakeRuntime::Enqueue(Stream& stream, const std::string& name,
                                                      std::vector<Range> ranges,
                                                      std::function<void()> work) {
  Join(stream.clock, host_);
  const uint64_t number = ++stream.clock[stream.number];
  for (const Range& range : ranges) {
    const auto* begin = static_cast<const uint8_t*>(range.begin);
    CheckOrder(
        {begin, begin + range.bytes, range.write, stream.number, number, stream.clock, name});
  }
  if (dead_) work = [] {};
  auto op = std::make_shared<Op>();
  op->stream = &stream;
  op->work = std::move(work);
  op->ranges = std::move(ranges);
  stream.pending.push_back(op);
  stream.last = op;
  changed_.notify_all();
  return op;
}

// Checks the new access against all earlier ones that are not known to be done.
void FakeRuntime::CheckOrder(const Access& access) {
  std::erase_if(accesses_, [&](const Access& before) {
    if (before.end <= access.begin || access.end <= before.begin) return false;
    const bool ordered = Knows(access.clock, before.stream, before.number);
    if (!ordered && (before.write || access.write)) {
      Violate(format("{} by stream {} is not ordered behind {} by stream {}", access.name,
                     access.stream, before.name, before.stream));
    }
    // Whoever knows the new one also knows the old one.
    return ordered && (access.write || !before.write) && access.begin <= before.begin &&
           before.end <= access.end;
  });
  accesses_.push_back(access);
}

// Pending uses of the memory are violations and are dropped.
void FakeRuntime::CheckUnused(const char* call, const void* memory, size_t bytes) {
  const auto* begin = static_cast<const uint8_t*>(memory);
  for (const auto& [handle, stream] : streams_) {
    for (const auto& op : stream->pending) {
      for (const Range& range : op->ranges) {
        const auto* used = static_cast<const uint8_t*>(range.begin);
        if (used < begin + bytes && begin < used + range.bytes) op->work = [] {};
      }
    }
  }
  std::erase_if(accesses_, [&](const Access& before) {
    if (before.end <= begin || begin + bytes <= before.begin) return false;
    if (!dead_ && !Knows(host_, before.stream, before.number)) {
      Violate(
          format("{} while {} by stream {} may be under way", call, before.name, before.stream));
    }
    return true;
  });
}

void FakeRuntime::CheckOwned(int device, const void* memory, size_t bytes,
                             const std::string& call) {
  const auto* begin = static_cast<const uint8_t*>(memory);
  for (const auto& [start, owned] : device_memory_) {
    const auto* first = static_cast<const uint8_t*>(start);
    if (owned.first == device && first <= begin &&
        begin + bytes <= first + owned.second.size() - 256) {
      return;
    }
  }
  Violate(call + " of memory that is not the device's");
}

void FakeRuntime::Record(int device, DeviceEvent event, DeviceStream handle) {
  const std::lock_guard lock(mutex_);
  Call("cudaEventRecord", device);
  Stream& stream = StreamOf(device, handle);
  Event& at = EventOf(event);
  if (at.device != device) Violate("an event is recorded on another device's stream");
  at.recorded = Enqueue(stream, "record", {}, [] {});
  at.clock = stream.clock;
}

void FakeRuntime::Wait(int device, DeviceStream handle, DeviceEvent event, WaitPoint point) {
  const std::lock_guard lock(mutex_);
  Call("cudaStreamWaitEvent", device);
  if (skipped_.count(point) > 0) return;
  ++waits_[point];
  Stream& stream = StreamOf(device, handle);
  const Event& at = EventOf(event);
  const auto op = Enqueue(stream, "wait", {}, [] {});
  if (at.recorded) op->needs.push_back(at.recorded);
  Join(stream.clock, at.clock);
}

void FakeRuntime::Synchronise(int device, DeviceEvent event, WaitPoint point) {
  std::unique_lock lock(mutex_);
  try {
    Call("cudaEventSynchronize", device);
  } catch (...) {
    Die();
    throw;
  }
  if (skipped_.count(point) > 0) return;
  ++waits_[point];
  const std::shared_ptr<Op> op = EventOf(event).recorded;
  const Clock clock = EventOf(event).clock;
  if (op) WaitFor(lock, op);
  Join(host_, clock);
}

// Stops all work, like a device after a failed kernel or copy.
void FakeRuntime::Die() {
  dead_ = true;
  for (const auto& [handle, stream] : streams_) {
    for (const auto& op : stream->pending) op->work = [] {};
  }
}

void FakeRuntime::Drain(int device, DeviceStream handle, WaitPoint point) {
  {
    const std::lock_guard lock(mutex_);
    Call("cudaStreamSynchronize", device);
    if (skipped_.count(point) > 0) return;
    ++waits_[point];
  }
  Drain(device, handle);
}

void FakeRuntime::Drain(int device, DeviceStream handle) {
  std::unique_lock lock(mutex_);
  Stream& stream = StreamOf(device, handle);
  const Clock clock = stream.clock;
  if (stream.last) WaitFor(lock, std::shared_ptr<Op>(stream.last));
  Join(host_, clock);
}

void FakeRuntime::Copy(int device, void* to, const void* from, size_t bytes, DeviceStream handle) {
  const std::lock_guard lock(mutex_);
  Call("cudaMemcpyAsync", device);
  CheckOwned(device, to, bytes, "copy");
  const auto pin = pinned_.upper_bound(from);
  const auto* begin = static_cast<const uint8_t*>(from);
  if (pin == pinned_.begin() ||
      static_cast<const uint8_t*>(std::prev(pin)->first) + std::prev(pin)->second < begin + bytes) {
    Violate("copy of memory that is not pinned");
  }
  std::vector<uint8_t> before(begin, begin + bytes);
  Enqueue(StreamOf(device, handle), "copy", {{from, bytes, false}, {to, bytes, true}},
          [=, this, before = std::move(before), quiet = !skipped_.empty()] {
            // If a wait is skipped, the loader may be writing: that is what the test must detect.
            const std::vector<uint8_t> now =
                quiet ? ReadUnwatched(begin, bytes) : std::vector<uint8_t>(begin, begin + bytes);
            if (now != before) Violate("the host's memory changed before it was copied");
            std::memcpy(to, now.data(), bytes);
          });
}

void FakeRuntime::Finish(int device, const FinishOptions& options, const uint8_t* images,
                         const FinishGeometry* geometry, int count, void* out,
                         DeviceStream handle) {
  const std::lock_guard lock(mutex_);
  Call("finish", device);
  const auto images_count = static_cast<size_t>(count);
  const size_t in = static_cast<size_t>(options.in_height) * options.in_width * options.channels;
  const Finisher finisher(options);
  const size_t out_bytes = finisher.out_bytes();
  CheckOwned(device, images, in * images_count, "finish");
  CheckOwned(device, out, out_bytes * images_count, "finish");
  Enqueue(StreamOf(device, handle), "finish",
          {{images, in * images_count, false},
           {geometry, sizeof *geometry * images_count, false},
           {out, out_bytes * images_count, true}},
          [=] {
            for (size_t i = 0; i < images_count; ++i) {
              finisher(images + i * in, geometry[i], static_cast<uint8_t*>(out) + i * out_bytes);
            }
          });
}

std::shared_ptr<std::vector<uint8_t>> FakeRuntime::Read(int device, const void* from, size_t bytes,
                                                        DeviceStream handle) {
  const std::lock_guard lock(mutex_);
  auto to = std::make_shared<std::vector<uint8_t>>(bytes);
  CheckOwned(device, from, bytes, "read");
  Enqueue(StreamOf(device, handle), "read", {{from, bytes, false}},
          [=] { std::memcpy(to->data(), from, bytes); });
  return to;
}

void FakeRuntime::WaitFor(std::unique_lock<std::mutex>& lock, const std::shared_ptr<Op>& op) {
  if (mode_ == Mode::kLazy) {
    DoUpTo(op);
  } else {
    changed_.wait(lock, [&] { return op->done; });
  }
}

// kLazy: runs only what the operation needs.
void FakeRuntime::DoUpTo(const std::shared_ptr<Op>& op) {
  while (!op->done) {
    const std::shared_ptr<Op> first = op->stream->pending.front();
    for (const auto& need : first->needs) DoUpTo(need);
    first->work();
    first->done = true;
    op->stream->pending.pop_front();
  }
}

// kThreads.
void FakeRuntime::RunStream(Stream& stream, std::stop_token stop) {
  KeyedRandom random(1, 0, static_cast<uint64_t>(stream.number));
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stop.stop_requested() || !stream.pending.empty(); });
    if (stream.pending.empty()) return;
    const std::shared_ptr<Op> op = stream.pending.front();
    changed_.wait(lock, [&] {
      return stop.stop_requested() ||
             std::ranges::all_of(op->needs, [](const auto& need) { return need->done; });
    });
    if (stop.stop_requested()) return;
    const auto delay = std::chrono::microseconds(random.NextBelow(200));
    lock.unlock();
    std::this_thread::sleep_for(delay);
    op->work();
    lock.lock();
    op->done = true;
    op->needs.clear();
    stream.pending.pop_front();
    changed_.notify_all();
  }
}

}  // namespace recpack
