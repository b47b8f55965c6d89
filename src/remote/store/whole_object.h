// A small object that is fetched as a whole, ahead of its use.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "recpack/base/bytes.h"

namespace recpack::remote {

// One thread at a time.
class WholeObject {
 public:
  // Queues a request for the object, which has `size` bytes by a listing; `size` must not be 0.
  // Throws Error: kInvalidArgument for `url`, kUnsupported without libcurl.
  WholeObject(const std::string& url, uint64_t size);

  // Ends the request if it still runs.
  ~WholeObject();
  WholeObject(const WholeObject&) = delete;

  // Waits for the bytes, with retries; they are valid as long as this object. Throws Error: kIo;
  // kNotFound if the object was removed; kCorrupt if its size has changed.
  ByteView Wait();

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace recpack::remote
