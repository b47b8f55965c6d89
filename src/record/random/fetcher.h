// How stretches of shards get into memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "recpack/base/error.h"
#include "recpack/record/random_access_reader.h"
#include "src/record/random/buffer_pool.h"
#include "src/record/random/shard_files.h"

namespace recpack {

// One stretch of a shard on its way into memory.
struct Fetch {
  enum State : int { kWaiting, kRunning, kDone };

  Fetch(std::shared_ptr<const OpenShard> opened, uint64_t at, size_t length,
        std::shared_ptr<BufferPool> buffers)
      : shard(std::move(opened)), offset(at), size(length), pool(std::move(buffers)) {}

  // The memory for it, made when it is first needed: what waits to be read takes none.
  std::span<uint8_t> bytes() {
    if (!memory) memory = pool->Take(size);
    return {memory.get(), size};
  }

  const std::shared_ptr<const OpenShard> shard;
  const uint64_t offset;
  const size_t size;
  const std::shared_ptr<BufferPool> pool;
  std::shared_ptr<uint8_t[]> memory;
  size_t got = 0;  // bytes there once it is done; fewer than size: the file ended
  std::optional<Error> error;
  std::atomic<int> state = kWaiting;
};

// Reads the whole stretch now.
void ReadNow(Fetch& fetch) noexcept;

class Fetcher {
 public:
  virtual ~Fetcher() = default;

  // Begins to read; a fetcher may leave all of the work to Finish(). Keeps the fetch alive.
  virtual void Begin(const std::shared_ptr<Fetch>& fetch) = 0;

  // Called after a number of Begin().
  virtual void Submit() {}

  // Returns when the fetch is done, begun or not. Errors are in the fetch.
  virtual void Finish(Fetch& fetch) noexcept = 0;

  // Reads at once into the caller's memory; returns the bytes there are. Throws Error (kIo).
  virtual size_t ReadInto(const OpenShard& shard, uint64_t offset, std::span<uint8_t> out) {
    return shard.file().ReadAt(offset, out);
  }
};

std::unique_ptr<Fetcher> MakePreadFetcher(int threads);
// `check_end`: asks after each copy whether the file was cut, for then the rest of its last page
// reads as zeros. Not needed where a CRC is checked.
std::unique_ptr<Fetcher> MakeMappedFetcher(bool check_end);
// Null where this build or this kernel has no io_uring.
std::unique_ptr<Fetcher> MakeIoUringFetcher();

}  // namespace recpack
