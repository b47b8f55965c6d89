// Random access to the records of a split, by ordinal.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "recpack/base/bytes.h"
#include "recpack/base/file.h"
#include "recpack/record/index.h"

namespace recpack {

struct RandomAccessOptions {
  // I/O backend; docs/decisions/0002-random-access.md has measurements.
  enum class Backend {
    kAutomatic,  // kPread
    kPread,      // Prefetch() advises the kernel, or `threads` helper threads read ahead
    kIoUring,    // falls back to pread if the build or the kernel lacks it: see backend()
    kMapped,     // copies from memory mappings of whole shards
  };
  Backend backend = Backend::kAutomatic;
  // Check the CRCs of length and payload, and the length against the index. Off: check only that
  // the file is long enough.
  bool verify = true;
  // Helper threads of kPread that serve Prefetch(). 0: Prefetch() only advises the kernel.
  int threads = 0;
  // Maximum number of shards open or mapped at a time, at least 1. Shared by all sources made by
  // ForAnotherThread(); each of these may hold eight more if the limit is at least 64.
  size_t max_open_files = 256;
  // Maximum payload bytes of prefetched records; records beyond are read by Get().
  size_t max_prefetched_bytes = size_t{64} << 20;
  // Let Prefetch() also start reads of records that are in the page cache, judged by a sample. Off
  // by default, since Get() alone is faster for these.
  bool prefetch_cached = false;
  // Maximum uncompressed bytes, not counting the last record, that are inflated to reach one record
  // of a compressed shard. Shards of RecordWriter have a flush point about every 1 MiB; those of
  // other writers have none and are refused if longer.
  size_t max_segment_bytes = size_t{16} << 20;
};

// Returns the path of a shard, by its number in the index. Must be thread-safe.
using ShardPath = std::function<std::string(size_t shard)>;

// Payload with shared ownership of its memory. Cheap to copy, independent of its source,
// thread-safe.
class OwnedRecord {
 public:
  OwnedRecord() = default;
  OwnedRecord(std::shared_ptr<const void> memory, ByteView payload) noexcept
      : memory_(std::move(memory)), payload_(payload) {}

  ByteView payload() const noexcept { return payload_; }

 private:
  std::shared_ptr<const void> memory_;
  ByteView payload_;
};

// Reads records by ordinal. Not thread-safe: use ForAnotherThread() to make one source per thread.
class RandomAccessReader {
 public:
  // The index's shards lie in `folder`. `files` must outlive the source. Opens no file yet.
  RandomAccessReader(Index index, std::string folder, RandomAccessOptions options = {},
                     FileSystem& files = PosixFiles());
  // For shards at arbitrary paths.
  RandomAccessReader(Index index, ShardPath path_of, RandomAccessOptions options = {},
                     FileSystem& files = PosixFiles());
  ~RandomAccessReader();
  RandomAccessReader(RandomAccessReader&&) noexcept;

  // Starts to read records (ordinals in the split) that Get() will be called for, in any order.
  // Adjacent records of a shard are read together. Does not block. A hint: reports no errors, and
  // is optional.
  void Prefetch(std::span<const uint64_t> ids);

  // Returns the record with this ordinal, prefetched or read now. Throws Error: kInvalidArgument
  // beyond the end; kNotFound, kIo; kCorrupt, with file, offset and ordinal in the shard, if a CRC
  // or a length is wrong or the file is shorter than the index says; kUnsupported for compressed
  // shards without flush points.
  OwnedRecord Get(uint64_t id);

  // Tells whether these records, judged by a sample, are in the page cache. False if unknown or if
  // RandomAccessOptions::prefetch_cached is set.
  bool InPageCache(std::span<const uint64_t> ids) noexcept;

  // Advises the kernel that these records will be read soon, by any source: in file order for each
  // shard, adjacent records as one range. Holds no memory. A hint like Prefetch().
  void Advise(std::span<const uint64_t> ids);

  // Prefetches the record into the CPU caches; useful if it is read within a microsecond or two.
  // For kMapped, where random order otherwise costs a cache miss per record. A hint.
  void Touch(uint64_t id) noexcept;

  // Like Get(), but reads into `memory`, which grows as needed, so that no memory is allocated per
  // record; or returns a view of bytes that the file has in memory. It is valid until the next
  // Read() or use of `memory`. For many records.
  ByteView Read(uint64_t id, ByteBuffer& memory);

  uint64_t record_count() const noexcept;

  // Returns the backend in use; never kAutomatic.
  RandomAccessOptions::Backend backend() const noexcept;

  // Makes a source that shares the index and the open shards.
  RandomAccessReader ForAnotherThread() const;

 private:
  struct State;
  explicit RandomAccessReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Returns "pread", "io_uring", "mapped" or "automatic".
const char* BackendName(RandomAccessOptions::Backend backend);

}  // namespace recpack
