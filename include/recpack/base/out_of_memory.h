// Errors for failed allocations, on the host and on devices.
#pragma once

#include <cstddef>
#include <cstdio>
#include <new>
#include <string>
#include <utility>

#include "recpack/base/error.h"

namespace recpack {

// Out of memory on the host or on a device (kDevice). The reason says where, and how many bytes
// were requested.
class OutOfMemory : public Error {
 public:
  explicit OutOfMemory(std::string reason, std::string advice = {})
      : Error(ErrorKind::kDevice, std::move(reason), {}, std::move(advice)) {}
};

// std::bad_alloc for host memory, with the number of bytes requested.
class HostMemoryError : public std::bad_alloc {
 public:
  explicit HostMemoryError(size_t bytes) noexcept {
    std::snprintf(text_, sizeof text_, "the host has no memory for %zu more bytes", bytes);
  }
  const char* what() const noexcept override { return text_; }

 private:
  char text_[80];
};

}  // namespace recpack
