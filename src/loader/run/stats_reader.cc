// Reads the statistics of loaders in other processes, and requests modes of them.
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

#include "recpack/base/clock.h"
#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/loader/batch/stats_page.h"

namespace recpack {
namespace {

constexpr uint32_t kMostWorkers = 1u << 16;

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
    return header.magic.load(std::memory_order_acquire) == kStatsMagic &&
           header.version == kStatsVersion && header.stages == kStages &&
           header.worker_bytes == sizeof(WorkerBlock) && header.workers <= kMostWorkers &&
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

StatsReading ReadStats(int pid) {
  StatsReading reading;
  reading.unavailable = VisitPages(pid, false, [&](StatsBlocks& blocks) {
    reading.loaders.push_back(Snapshot(blocks, MonotonicNow()));
  });
  std::ranges::sort(reading.loaders, {}, &LoaderStats::number);
  return reading;
}

void RequestMode(int pid, uint32_t number, LoaderMode mode, std::chrono::nanoseconds duration) {
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
