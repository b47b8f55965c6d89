// Owning file descriptor.
#pragma once

#include <unistd.h>

#include <utility>

namespace recpack {

// Closes the descriptor on destruction; -1 means none. Errors of close(2) are ignored: to see them,
// call Release() and close the result.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) noexcept : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  int get() const noexcept { return fd_; }

  // Gives up ownership: the caller closes the descriptor.
  int Release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

}  // namespace recpack
