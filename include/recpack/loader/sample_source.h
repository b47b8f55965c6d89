// Where a loader's samples come from, whatever they lie in.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "recpack/base/bytes.h"

namespace recpack {

// Samples of one split by ordinal, in any order. One thread at a time; any number of sources of one
// data set side by side.
class SampleSource {
 public:
  virtual ~SampleSource() = default;

  // Another source of the same samples, for another thread. What can be shared is: the files that
  // are open are not more with more threads.
  virtual std::unique_ptr<SampleSource> ForAnotherThread() const = 0;

  // Whether Advise() has nothing to do for these samples, by a few of them: they are in memory.
  virtual bool InMemory(std::span<const uint64_t> ids) = 0;

  // Tells that these samples will be read soon, by whatever source. A hint: it does not wait,
  // reports no errors and may do nothing.
  virtual void Advise(std::span<const uint64_t> ids) = 0;

  // Tells that this sample will be read by this source in a microsecond or two. A hint.
  virtual void Touch(uint64_t) noexcept {}

  // The sample as a tf.train.Example in its wire format. The view is valid until the next Read(),
  // or until `memory` is touched, in which it may lie; `memory` grows as needed and is used again.
  // Throws Error with the sample's place: kInvalidArgument beyond the end; kNotFound, kIo; kCorrupt
  // where what is there is damaged, or not what was there when the data set was opened.
  virtual ByteView Read(uint64_t id, ByteBuffer& memory) = 0;
};

}  // namespace recpack
