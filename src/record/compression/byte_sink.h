// Output of a shard writer: writes to the file directly or through a compressor.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "recpack/base/bytes.h"
#include "recpack/base/file.h"
#include "recpack/base/hash.h"
#include "recpack/record/writer.h"

namespace recpack {

class ByteSink {
 public:
  virtual ~ByteSink() = default;

  virtual void Write(ByteView bytes) = 0;

  // Ends a segment that can be inflated on its own; returns the file offset after it.
  virtual uint64_t Flush() = 0;

  // Writes buffered data, syncs the file if `sync`, closes it, and returns its size.
  virtual uint64_t Finish(bool sync) = 0;

  // Returns the last bytes of the file, for ShardCheck(). Call it after Finish().
  virtual ByteView tail() const = 0;

  // Returns the digest of the file if WriterOptions::digest is set. Call it after Finish().
  virtual std::optional<Sha256Digest> digest() const = 0;
};

std::unique_ptr<ByteSink> MakeByteSink(std::unique_ptr<WritableFile> file,
                                       const WriterOptions& options);

}  // namespace recpack
