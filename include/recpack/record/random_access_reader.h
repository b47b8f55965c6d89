// Records of a split by ordinal, in any order.
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

struct SourceOptions {
  // How bytes come from the disk; docs/decisions/0002-random-access.md has the measurements.
  enum class Backend {
    kAutomatic,  // kPread
    kPread,      // the kernel is told what Prefetch() names, or `threads` helpers read it
    kIoUring,    // falls back to pread where the build or the kernel has none: see backend()
    kMapped,     // copies from mappings of whole shards
  };
  Backend backend = Backend::kAutomatic;
  // Check the CRCs of length and payload, and that the index's length is the file's. Off: only that
  // the file is long enough.
  bool verify = true;
  // Helpers of kPread that serve Prefetch(). 0: it only tells the kernel what will be needed.
  int threads = 0;
  // Most shards that are open, or mapped, at a time; shared by all sources made by
  // ForAnotherThread(), each of which may hold eight more where this is at least 64. At least 1.
  size_t max_open_files = 256;
  // Most payload bytes that prefetched records may hold; what is beyond is read by Get().
  size_t max_prefetched_bytes = size_t{64} << 20;
  // Let Prefetch() also begin what is in the page cache already, judged by a sample: then Get()
  // alone is faster.
  bool prefetch_cached = false;
  // Longest stretch of a compressed shard, in uncompressed bytes and not counting its last record,
  // that is inflated for one record. Ours have a flush point about every 1 MiB; foreign ones have
  // none and are refused if longer.
  size_t max_segment_bytes = size_t{16} << 20;
};

// Where the index's shard of this number lies. Called by any thread.
using ShardPath = std::function<std::string(size_t shard)>;

// A payload and the memory it lies in. Cheap to copy; independent of its source, any thread.
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

// One thread at a time; ForAnotherThread() makes one for each further thread.
class RecordSource {
 public:
  // The index's shards lie in `folder`. `files` outlives the source. Opens nothing yet.
  RecordSource(Index index, std::string folder, SourceOptions options = {},
               FileSystem& files = PosixFiles());
  // The same for shards that lie anywhere.
  RecordSource(Index index, ShardPath path_of, SourceOptions options = {},
               FileSystem& files = PosixFiles());
  ~RecordSource();
  RecordSource(RecordSource&&) noexcept;

  // Begins to read records (ordinals in the split) that Get() will ask for, in any order; records
  // that lie together in a shard are read at once. Does not wait. A hint: reports no errors, may be
  // left out, repeated or not made use of.
  void Prefetch(std::span<const uint64_t> ids);

  // The record of this ordinal; takes what was prefetched for it. Throws Error: kInvalidArgument
  // beyond the end; kNotFound, kIo; kCorrupt, with file, offset and ordinal in the shard, where a
  // CRC or a length does not hold, or the file is shorter than the index says; kUnsupported for
  // compressed shards without flush points.
  OwnedRecord Get(uint64_t id);

  // Whether these records (judged by a sample) need no disk, and SourceOptions::prefetch_cached
  // does not ask for them all the same. False where nobody can tell.
  bool InPageCache(std::span<const uint64_t> ids) noexcept;

  // Tells the kernel that these records will be read soon, by whatever source: each shard's in the
  // order in which they lie, neighbours as one. Nothing is held for them. A hint like Prefetch().
  void Advise(std::span<const uint64_t> ids);

  // Brings the record towards this processor's caches, where it will be read in a microsecond or
  // two: for kMapped, which else waits for memory at each record of a random order. A hint.
  void Touch(uint64_t id) noexcept;

  // As Get(), but into `memory`, which grows as needed and is used again: no memory is taken for a
  // record. The view is valid until the next use of `memory`. Made for many small records.
  ByteView Read(uint64_t id, ByteBuffer& memory);

  uint64_t record_count() const noexcept;

  // The backend at work: never kAutomatic.
  SourceOptions::Backend backend() const noexcept;

  // A source over the same index and the same open shards.
  RecordSource ForAnotherThread() const;

 private:
  struct State;
  explicit RecordSource(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// "pread", "io_uring", "mapped", "automatic".
const char* BackendName(SourceOptions::Backend backend);

}  // namespace recpack
