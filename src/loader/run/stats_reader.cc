// Reads statistics of this process and of others.
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <thread>

#include "recpack/base/clock.h"
#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/loader/batch/stats_page.h"

namespace recpack {
namespace {

using std::chrono::nanoseconds;

constexpr int kTries = 100;  // tries to read a block that is not being written, before a pause
constexpr uint64_t kPatience = 200'000'000;  // ns
constexpr uint32_t kMostWorkers = 1u << 16;

nanoseconds Nanoseconds(uint64_t count) { return nanoseconds(static_cast<int64_t>(count)); }

uint64_t Since(uint64_t then, uint64_t now) { return now > then ? now - then : 0; }

uint64_t Load(const PageWord& word) { return word.load(std::memory_order_acquire); }

// Calls `read` until no write happened meanwhile. Gives a preempted writer time to continue, but
// does not wait for a stopped one.
template <typename Read>
void ReadWhole(const PageWord& sequence, Read read) {
  const uint64_t deadline = MonotonicNow() + kPatience;
  for (int i = 1;; ++i) {
    const uint64_t before = Load(sequence);
    read();
    if (before % 2 == 0 && sequence.load(std::memory_order_relaxed) == before) return;
    if (i % kTries != 0) continue;
    if (MonotonicNow() > deadline) return;
    std::this_thread::yield();
  }
}

WorkerStats OfWorker(const WorkerBlock& block, uint64_t now) {
  WorkerStats stats;
  uint64_t since = 0;
  ReadWhole(block.sequence, [&] {
    since = Load(block.since);
    for (size_t i = 0; i < kStages; ++i) {
      stats.stages[i] = {Load(block.stages[i].count), Load(block.stages[i].bytes),
                         Nanoseconds(Load(block.stages[i].time))};
    }
    stats.pictures = {Load(block.pixels), Load(block.pixels_made), Load(block.coded_bytes)};
    stats.now = static_cast<Stage>(std::min<uint64_t>(Load(block.stage), kStages - 1));
  });
  stats.view = static_cast<uint32_t>(Load(block.view));
  stats.record = Load(block.record);
  stats.now_for = Nanoseconds(Since(since, now));
  stats.stages[static_cast<size_t>(stats.now)].time += stats.now_for;
  return stats;
}

LoaderMode ToMode(uint64_t word) {
  constexpr auto kLast = static_cast<uint64_t>(LoaderMode::kSynthetic);
  return word > kLast ? LoaderMode::kLive : static_cast<LoaderMode>(word);
}

void AddConsumer(const ConsumerBlock& block, uint64_t now, LoaderStats& stats) {
  uint64_t wait = 0, since = 0, ready = 0;
  ReadWhole(block.sequence, [&] {
    stats.batches = Load(block.batches);
    stats.samples = Load(block.samples);
    stats.epochs = Load(block.epochs);
    stats.waits = Load(block.waits);
    wait = Load(block.wait);
    since = Load(block.waiting_since);
    ready = Load(block.ready);
  });
  stats.consumer_waits = since != 0;
  if (stats.consumer_waits) wait += Since(since, now);
  stats.consumer_wait = Nanoseconds(wait);
  if (stats.batches > 0) {
    stats.mean_ready = static_cast<double>(ready) / static_cast<double>(stats.batches);
  }
}

// Returns the id of the process in its innermost pid namespace.
uint32_t FindOwnId(int pid) {
  std::ifstream status(format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("NSpid:")) {
      return static_cast<uint32_t>(std::stoul(line.substr(line.find_last_of(" \t") + 1)));
    }
  }
  return static_cast<uint32_t>(pid);
}

// The mapped page of this or another process; null if it is not a page of a known version.
class MappedPage {
 public:
  MappedPage(const std::string& path, bool writable) {
    const int descriptor = ::open(path.c_str(), (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (descriptor < 0) return;
    struct stat status;
    const int seals = ::fcntl(descriptor, F_GET_SEALS);
    // Without the seal its owner could shrink it while it is read.
    if (seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && ::fstat(descriptor, &status) == 0 &&
        static_cast<size_t>(status.st_size) >= sizeof(StatsBlocks)) {
      bytes_ = static_cast<size_t>(status.st_size);
      const int access = PROT_READ | (writable ? PROT_WRITE : 0);
      void* memory = ::mmap(nullptr, bytes_, access, MAP_SHARED, descriptor, 0);
      if (memory != MAP_FAILED) blocks_ = static_cast<StatsBlocks*>(memory);
    }
    ::close(descriptor);
    if (blocks_ != nullptr && !Holds()) Unmap();
  }
  ~MappedPage() { Unmap(); }
  MappedPage(const MappedPage&) = delete;

  StatsBlocks* blocks() noexcept { return blocks_; }

 private:
  bool Holds() const {
    const StatsHeader& header = blocks_->header;
    return Load(header.magic) == kStatsMagic && header.version == kStatsVersion &&
           header.stages == kStages && header.worker_bytes == sizeof(WorkerBlock) &&
           header.workers <= kMostWorkers &&
           bytes_ >= sizeof(StatsBlocks) + header.workers * sizeof(WorkerBlock);
  }
  void Unmap() noexcept {
    if (blocks_ != nullptr) ::munmap(blocks_, bytes_);
    blocks_ = nullptr;
  }

  size_t bytes_ = 0;
  StatsBlocks* blocks_ = nullptr;
};

// Calls `use` for the page of each loader. Returns the reason if there is none.
std::string VisitPages(int pid, bool writable, const std::function<void(StatsBlocks&)>& use) {
  const std::string folder = format("/proc/{}/fd", pid);
  DIR* const entries = ::opendir(folder.c_str());
  if (entries == nullptr) {
    if (errno == ENOENT) return format("there is no process {}", pid);
    return format("process {} may not be looked into: {}", pid, std::strerror(errno));
  }
  const std::string target = format("/memfd:{} (deleted)", kStatsName);
  bool found = false, unknown = false;
  while (const dirent* entry = ::readdir(entries)) {
    char link[128];
    const ssize_t length = ::readlinkat(::dirfd(entries), entry->d_name, link, sizeof(link));
    if (length < 0 || std::string_view(link, static_cast<size_t>(length)) != target) continue;
    MappedPage page(folder + "/" + entry->d_name, writable);
    unknown |= page.blocks() == nullptr;
    if (page.blocks() == nullptr || page.blocks()->header.process != FindOwnId(pid)) continue;
    found = true;
    use(*page.blocks());
  }
  ::closedir(entries);
  if (found) return {};
  if (unknown) return format("process {} has a stats page of another version", pid);
  return format("process {} has no loader that publishes stats", pid);
}

}  // namespace

const char* StageName(Stage stage) noexcept {
  constexpr const char* kNames[kStages] = {"room",   "input",   "plan",     "read",  "parse",
                                           "decode", "augment", "function", "batch", "write"};
  return kNames[static_cast<size_t>(stage)];
}

const char* LoaderModeName(LoaderMode mode) noexcept {
  constexpr const char* kNames[] = {"live", "replay", "replay-and-work", "synthetic"};
  return kNames[static_cast<size_t>(mode)];
}

StageStats LoaderStats::Total(Stage stage) const noexcept {
  StageStats total;
  for (const WorkerStats& worker : workers) {
    const StageStats& own = worker.stages[static_cast<size_t>(stage)];
    total.count += own.count;
    total.bytes += own.bytes;
    total.time += own.time;
  }
  return total;
}

PictureStats LoaderStats::TotalPictures() const noexcept {
  PictureStats total;
  for (const WorkerStats& worker : workers) {
    total.pixels += worker.pictures.pixels;
    total.made += worker.pictures.made;
    total.coded_bytes += worker.pictures.coded_bytes;
  }
  return total;
}

LoaderStats Snapshot(StatsBlocks& blocks, uint64_t now) {
  const StatsHeader& header = blocks.header;
  LoaderStats stats;
  stats.number = header.number;
  stats.age = Nanoseconds(Since(header.started, now));
  stats.batch_size = header.batch_size;
  stats.batch_bytes = header.batch_bytes;
  stats.slots = header.slots;
  for (size_t i = 0; i < header.workers; ++i) {
    stats.workers.push_back(OfWorker(blocks.worker(i), now));
  }
  // Read in this order, so that each is at most the previous one.
  const uint64_t released = Load(blocks.ring.released);
  AddConsumer(blocks.consumer, now, stats);
  const uint64_t written = Load(blocks.ring.written);
  // Loaders of older versions do not count slabs: use the ring's.
  stats.slabs = static_cast<uint32_t>(std::max<uint64_t>(Load(blocks.ring.slabs), header.slots));
  const auto between = [](uint64_t less, uint64_t more, uint32_t most) {
    return static_cast<uint32_t>(std::min<uint64_t>(Since(less, more), most));
  };
  stats.ready = between(stats.batches, written, stats.slots);
  stats.held = between(released, stats.batches, stats.slabs);
  stats.requested = ToMode(Load(blocks.control.request) & kModeBits);
  stats.mode = ToMode(Load(blocks.control.mode));
  stats.held_back = static_cast<uint32_t>(Load(blocks.control.held));
  stats.replayed = Load(blocks.control.given);
  stats.thrown_chunks = Load(blocks.control.thrown);
  return stats;
}

StatsReading ReadStats(int pid) {
  StatsReading reading;
  reading.unavailable = VisitPages(pid, false, [&](StatsBlocks& blocks) {
    reading.loaders.push_back(Snapshot(blocks, MonotonicNow()));
  });
  std::ranges::sort(reading.loaders, {}, &LoaderStats::number);
  return reading;
}

void RequestMode(int pid, uint32_t number, LoaderMode mode, nanoseconds duration) {
  bool found = false;
  const uint64_t deadline = MonotonicNow() + static_cast<uint64_t>(duration.count());
  const uint64_t request = (deadline & ~kModeBits) | static_cast<uint64_t>(mode);
  std::string missing = VisitPages(pid, true, [&](StatsBlocks& blocks) {
    if (blocks.header.number != number) return;
    found = true;
    blocks.control.request.store(request, std::memory_order_release);
  });
  if (found) return;
  if (missing.empty()) missing = format("process {} has no loader number {}", pid, number);
  throw Error(ErrorKind::kNotFound, missing, {}, "ReadStats() lists the loaders of a process");
}

}  // namespace recpack
