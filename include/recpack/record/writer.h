// Writes one TFRecord shard (docs/format/tfrecord.md, docs/format/compression.md).
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
  // Of the whole shard. Compressed shards get a full flush behind the stream's header, and at a
  // record boundary every flush_interval.
  Compression compression = Compression::kNone;
  // zlib's level, 1 (fast) to 9 (small); unused without compression.
  int level = 6;
  // Bytes of frames between two flush points: the grain of random access and of damage.
  uint64_t flush_interval = uint64_t{1} << 20;
  // Bytes gathered before one write call.
  size_t buffer_bytes = size_t{1} << 20;
  // Compute the SHA-256 of the file's bytes while writing (about 2 GB/s).
  bool digest = false;
  // Bring bytes to the disk while more are written, for the Finish(true) to come.
  bool start_sync = false;
};

// One thread at a time. Output bytes depend on the payloads and the options only. Destroyed before
// Finish(), or once a call threw kIo, it leaves an incomplete file for the caller to remove.
class RecordWriter {
 public:
  RecordWriter(std::unique_ptr<WritableFile> file, WriterOptions options);
  ~RecordWriter();
  RecordWriter(RecordWriter&&) noexcept;

  // Room for a payload of exactly `size` bytes (< 4 GiB, else Error kUnsupported), to be filled
  // before End(). Saves a copy over Write(). Throws Error (kIo) when the buffer cannot be written
  // out.
  std::span<uint8_t> Begin(size_t size);

  // Completes the record begun: frames it and adds it to the entries.
  void End();

  void Write(ByteView payload);

  // Adds a record that is framed already, with both CRCs (framing.h), as they are.
  void WriteFrame(ByteView frame);

  // Writes what is buffered, syncs if asked to, closes the file.
  void Finish(bool sync);

  // Lengths and flush points so far; complete after Finish().
  const ShardEntries& entries() const;

  // The file's SHA-256 where WriterOptions::digest asked for it; after Finish().
  std::optional<Sha256Digest> digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack
