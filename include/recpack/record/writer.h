// Writer of one TFRecord shard (docs/format/tfrecord.md, docs/format/compression.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "recpack/base/bytes.h"
#include "recpack/base/file.h"
#include "recpack/base/hash.h"
#include "recpack/record/compression.h"
#include "recpack/record/index.h"

namespace recpack {

struct WriterOptions {
  // Compression of the whole shard. Compressed shards get a full flush after the stream's header,
  // and at a record boundary every flush_interval bytes.
  Compression compression = Compression::kNone;
  // zlib level, 1 (fast) to 9 (small); ignored without compression.
  int level = 6;
  // Bytes of frames between two flush points: the granularity of random access and of damage.
  uint64_t flush_interval = uint64_t{1} << 20;
  // Bytes buffered before each write call.
  size_t buffer_bytes = size_t{1} << 20;
  // Compute the SHA-256 of the file's bytes while writing (about 2 GB/s).
  bool digest = false;
  // Start writeback while writing, so that Finish(true) has less to wait for.
  bool start_sync = false;
};

// Writes records to a file. The output depends only on the payloads and the options. If it is
// destroyed before Finish(), or a call throws kIo, it leaves an incomplete file for the caller to
// remove. Not thread-safe.
class RecordWriter {
 public:
  RecordWriter(std::unique_ptr<WritableFile> file, WriterOptions options);
  ~RecordWriter();
  RecordWriter(RecordWriter&&) noexcept;

  // Begins a record and returns the memory for its payload of exactly `size` bytes, to be filled
  // before End(). Saves the copy of Write(). Throws Error: kUnsupported for 4 GiB or more, kIo if
  // the buffer cannot be written.
  std::span<uint8_t> Begin(size_t size);

  // Ends the record: adds its frame and its index entry.
  void End();

  void Write(ByteView payload);

  // Appends a framed record (framing.h) as it is, with its CRCs.
  void WriteFrame(ByteView frame);

  // Writes buffered data, syncs the file if `sync`, and closes it.
  void Finish(bool sync);

  // Returns the lengths and flush points so far; complete after Finish().
  const ShardEntries& entries() const;

  // Returns the SHA-256 of the file if WriterOptions::digest is set. Call it after Finish().
  std::optional<Sha256Digest> digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack
