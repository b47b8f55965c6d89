// Interface of a reader of samples, independent of their storage.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "recpack/base/bytes.h"

namespace recpack {

// Reads the samples of one split by ordinal, in any order. Not thread-safe; use one source per
// thread.
class SampleSource {
 public:
  virtual ~SampleSource() = default;

  // Returns another source of the same samples, for another thread. Shares what it can: the number
  // of open files does not grow with the number of threads.
  virtual std::unique_ptr<SampleSource> ForAnotherThread() const = 0;

  // Checks a few of the samples; returns true if they are in memory, so that Advise() has nothing
  // to do.
  virtual bool InMemory(std::span<const uint64_t> ids) = 0;

  // Announces that these samples will be announced: files in an object store, each of which takes a
  // round trip to open, are opened at once. A hint, as Advise().
  virtual void WillOpen(std::span<const uint64_t>) {}

  // Announces that these samples will be read soon, by any source. A hint: does not block, reports
  // no errors and may do nothing.
  virtual void Advise(std::span<const uint64_t> ids) = 0;

  // Announces that this source will read the sample within a microsecond or two. A hint.
  virtual void Touch(uint64_t) noexcept {}

  // Returns the sample as a serialised tf.train.Example. The view is valid until the next Read() or
  // until `memory`, where it may lie, is changed; `memory` grows as needed and is reused. Throws
  // Error with the sample's place: kInvalidArgument if `id` is beyond the end; kNotFound, kIo;
  // kCorrupt if the data is damaged or has changed since the data set was opened.
  virtual ByteView Read(uint64_t id, ByteBuffer& memory) = 0;
};

}  // namespace recpack
