#include "src/loader/batch/stats_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "recpack/base/clock.h"

namespace recpack {
namespace {

std::atomic<uint32_t> loaders_made = 0;

}  // namespace

StatsPage::StatsPage(const Sizes& sizes)
    : bytes_(sizeof(StatsBlocks) + sizes.workers * sizeof(WorkerBlock)) {
  if (!Map()) {
    constexpr size_t kLine = 64;  // blocks are aligned to cache lines
    heap_ = std::make_unique<std::byte[]>(bytes_ + kLine);
    void* begin = heap_.get();
    size_t space = bytes_ + kLine;
    blocks_ = static_cast<StatsBlocks*>(std::align(kLine, bytes_, begin, space));
  }
  StatsHeader& header = blocks_->header;
  header.version = kStatsVersion;
  header.stages = kStages;
  header.workers = sizes.workers;
  header.worker_bytes = sizeof(WorkerBlock);
  header.process = static_cast<uint32_t>(::getpid());
  header.number = loaders_made.fetch_add(1, std::memory_order_relaxed);
  header.slots = sizes.slots;
  header.batch_size = sizes.batch_size;
  header.batch_bytes = sizes.batch_bytes;
  header.started = MonotonicNow();
  for (size_t i = 0; i < sizes.workers; ++i) blocks_->worker(i).since = header.started;
  header.magic.store(kStatsMagic, std::memory_order_release);
}

// A new file reads as 0. Its memory is allocated at once: if the machine runs out of memory later,
// writing to an unbacked page would kill the process.
bool StatsPage::Map() {
  const auto take = [](int file, off_t size) {
    int failed = -1;
    do {
      failed = ::fallocate(file, 0, 0, size);
    } while (failed != 0 && errno == EINTR);
    return failed == 0 || (errno == EOPNOTSUPP && ::ftruncate(file, size) == 0);
  };
  const int descriptor = ::memfd_create(kStatsName, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return false;
  const auto size = static_cast<off_t>(bytes_);
  void* memory = MAP_FAILED;
  if (::fchmod(descriptor, S_IRUSR | S_IWUSR) == 0 && take(descriptor, size) &&
      ::fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
    memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  }
  if (memory == MAP_FAILED) {
    ::close(descriptor);
    return false;
  }
  descriptor_ = descriptor;
  blocks_ = static_cast<StatsBlocks*>(memory);
  return true;
}

StatsPage::~StatsPage() {
  Unpublish();
  if (heap_ == nullptr) ::munmap(blocks_, bytes_);
}

void StatsPage::Unpublish() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace recpack
