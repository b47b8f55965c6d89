#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "recpack/base/error.h"
#include "src/record/random/fetcher.h"
#include "src/record/random/guarded_copy.h"

namespace recpack {
namespace {

class MappedFetcher final : public Fetcher {
 public:
  explicit MappedFetcher(bool check_end)
      : page_(static_cast<uint64_t>(::sysconf(_SC_PAGESIZE))), check_end_(check_end) {
    InstallCopyGuard();
  }

  void Begin(const std::shared_ptr<Fetch>& fetch) override {
    if (fetch->shard->file().descriptor() < 0) return;
    const ByteView mapped = fetch->shard->Mapped();
    if (fetch->offset >= mapped.size()) return;
    const uint64_t start = fetch->offset / page_ * page_;
    const uint64_t end = std::min<uint64_t>(fetch->offset + fetch->size, mapped.size());
    ::madvise(const_cast<uint8_t*>(mapped.data()) + start, end - start, MADV_WILLNEED);
  }

  void Finish(Fetch& fetch) noexcept override {
    if (fetch.state == Fetch::kDone) return;
    try {
      fetch.got = ReadInto(*fetch.shard, fetch.offset, fetch.bytes());
      fetch.state.store(Fetch::kDone, std::memory_order_release);
    } catch (const std::exception&) {
      ReadNow(fetch);  // cannot be mapped, but perhaps read; otherwise this reports the error
    }
  }

  size_t ReadInto(const OpenShard& shard, uint64_t offset, std::span<uint8_t> out) override {
    if (shard.file().descriptor() < 0) return shard.file().ReadAt(offset, out);
    const ByteView mapped = shard.Mapped();
    if (offset >= mapped.size()) return 0;
    const size_t size = std::min<uint64_t>(out.size(), mapped.size() - offset);
    // A page is missing: the file was truncated or the disk failed. Reading it tells which.
    const bool copied = GuardedCopy(out.data(), mapped.data() + offset, size);
    if (!copied || (check_end_ && shard.file().Size() < mapped.size())) {
      return shard.file().ReadAt(offset, out);
    }
    return size;
  }

 private:
  const uint64_t page_;
  const bool check_end_;
};

}  // namespace

std::unique_ptr<Fetcher> MakeMappedFetcher(bool check_end) {
  return std::make_unique<MappedFetcher>(check_end);
}

}  // namespace recpack
