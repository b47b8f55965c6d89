// Where a writer's bytes go: straight to the file, or through a compressor.
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

  // Ends a stretch that can be inflated on its own; returns the file offset behind it.
  virtual uint64_t Flush() = 0;

  // Writes the rest, syncs if asked to, closes; returns the size of the file.
  virtual uint64_t Finish(bool sync) = 0;

  // The last bytes of the file, as ShardCheck() takes them; after Finish().
  virtual ByteView tail() const = 0;

  // Of the file's bytes, where it was asked for; after Finish().
  virtual std::optional<Sha256Digest> digest() const = 0;
};

std::unique_ptr<ByteSink> MakeByteSink(std::unique_ptr<WritableFile> file,
                                       const WriterOptions& options);

}  // namespace recpack
