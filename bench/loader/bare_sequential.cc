#include "bench/loader/bare.h"
#include "recpack/base/file.h"
#include "recpack/base/parallel.h"
#include "src/shards/index/pick.h"
#include "src/shards/layout/layout.h"

namespace recpack::bench {
namespace {

constexpr size_t kReadBytes = size_t{1} << 20;

class Loop final : public BareLoop {
 public:
  explicit Loop(const BareFlags& flags) : threads_(flags.threads) {
    const Layout layout = FindLayout(flags.data);
    for (const LayoutSplit& split : layout.splits) {
      for (const auto& path : split.shards) paths_.push_back(path);
      records_ += OpenSplitIndex(split).record_count();
    }
    buffers_.assign(static_cast<size_t>(threads_), ByteBuffer(kReadBytes));
  }

  Pass Run() override {
    std::vector<uint64_t> bytes(paths_.size());
    ParallelFor(paths_.size(), threads_, [&](size_t worker, size_t i) {
      const auto file = PosixFiles().OpenForReading(paths_[i]);
      while (const size_t got = file->ReadAt(bytes[i], buffers_[worker])) bytes[i] += got;
    });
    uint64_t all = 0;
    for (const uint64_t each : bytes) all += each;
    return {.records = records_, .bytes = all};
  }

 private:
  const int threads_;
  std::vector<std::string> paths_;
  uint64_t records_ = 0;
  std::vector<ByteBuffer> buffers_;
};

}  // namespace

std::unique_ptr<BareLoop> BareSequential(const BareFlags& flags) {
  return std::make_unique<Loop>(flags);
}

}  // namespace recpack::bench
