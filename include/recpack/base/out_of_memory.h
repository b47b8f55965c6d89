// Memory that is not to be had.
#pragma once

#include <cstddef>
#include <cstdio>
#include <new>
#include <string>
#include <utility>

#include "recpack/base/error.h"

namespace recpack {

// Of the host or of a device (kDevice); it says where, and how many bytes were asked for.
class OutOfMemory : public Error {
 public:
  explicit OutOfMemory(std::string reason, std::string advice = {})
      : Error(ErrorKind::kDevice, std::move(reason), {}, std::move(advice)) {}
};

// As the standard library says it of the host's memory, with the bytes that were asked for.
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
