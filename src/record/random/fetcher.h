// Fetchers: I/O backends that read ranges of shards into memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "recpack/base/buffer_pool.h"
#include "recpack/base/error.h"
#include "recpack/record/random_access_reader.h"
#include "src/record/random/shard_files.h"

namespace recpack {

// Read request for one range of a shard.
struct Fetch {
  enum State : int { kWaiting, kRunning, kDone };

  Fetch(std::shared_ptr<const OpenShard> opened, uint64_t at, size_t length,
        std::shared_ptr<BufferPool> buffers)
      : shard(std::move(opened)), offset(at), size(length), pool(std::move(buffers)) {}

  // Returns the memory to read into. Allocated at the first call, so that waiting requests take
  // none.
  std::span<uint8_t> bytes() {
    if (!memory) memory = pool->Take(size);
    return {memory.get(), size};
  }

  const std::shared_ptr<const OpenShard> shard;
  const uint64_t offset;
  const size_t size;
  const std::shared_ptr<BufferPool> pool;
  std::shared_ptr<uint8_t[]> memory;
  size_t got = 0;  // bytes read once it is done; fewer than `size` at the end of the file
  std::optional<Error> error;
  std::atomic<int> state = kWaiting;
};

// Reads the whole range synchronously.
void ReadNow(Fetch& fetch) noexcept;

class Fetcher {
 public:
  virtual ~Fetcher() = default;

  // Starts a read; may leave all work to Finish(). Keeps the fetch alive.
  virtual void Begin(const std::shared_ptr<Fetch>& fetch) = 0;

  // Submits the reads started by Begin().
  virtual void Submit() {}

  // Blocks until the fetch is done, whether it was started or not. Errors are stored in the fetch.
  virtual void Finish(Fetch& fetch) noexcept = 0;

  // Reads synchronously into the caller's memory; returns the number of bytes read. Throws Error
  // (kIo).
  virtual size_t ReadInto(const OpenShard& shard, uint64_t offset, std::span<uint8_t> out) {
    return shard.file().ReadAt(offset, out);
  }
};

std::unique_ptr<Fetcher> MakePreadFetcher(int threads);
// `check_end`: checks after each copy whether the file was truncated, since the rest of its last
// page then reads as zeros. Not needed if CRCs are checked.
std::unique_ptr<Fetcher> MakeMappedFetcher(bool check_end);
// Returns null if the build or the kernel does not support io_uring.
std::unique_ptr<Fetcher> MakeIoUringFetcher();
// Makes a fetcher for `backend`, which is set to kPread if that one is not available.
std::unique_ptr<Fetcher> MakeFetcher(RandomAccessOptions::Backend& backend,
                                     const RandomAccessOptions& options);

}  // namespace recpack
