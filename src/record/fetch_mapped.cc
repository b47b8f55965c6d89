#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "recpack/base/error.h"
#include "src/record/fetcher.h"
#include "src/record/guarded_copy.h"

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
    if (fetch.shard->file().descriptor() < 0) return ReadNow(fetch);
    try {
      Copy(fetch);
      fetch.state.store(Fetch::kDone, std::memory_order_release);
    } catch (const std::exception&) {
      ReadNow(fetch);  // cannot be mapped, but maybe read; if not, this says why
    }
  }

 private:
  void Copy(Fetch& fetch) const {
    const ByteView mapped = fetch.shard->Mapped();
    if (fetch.offset >= mapped.size()) return;
    const size_t size = std::min<uint64_t>(fetch.size, mapped.size() - fetch.offset);
    // A page that is not there: the file was cut, or the disk failed. Reading it says which.
    const bool copied = GuardedCopy(fetch.bytes().data(), mapped.data() + fetch.offset, size);
    if (!copied || (check_end_ && fetch.shard->file().Size() < mapped.size())) {
      ReadNow(fetch);
    } else {
      fetch.got = size;
    }
  }

  const uint64_t page_;
  const bool check_end_;
};

}  // namespace

std::unique_ptr<Fetcher> MakeMappedFetcher(bool check_end) {
  return std::make_unique<MappedFetcher>(check_end);
}

}  // namespace recpack
