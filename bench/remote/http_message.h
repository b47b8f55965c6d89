// Heads of HTTP/1.1 messages, as the proxy of bench/remote reads and changes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace recpack::bench {

// A socket that is read until the end of a head; what came behind it is kept. Owns the descriptor.
class HttpStream {
 public:
  explicit HttpStream(int descriptor) : descriptor_(descriptor) {}
  ~HttpStream();
  HttpStream(const HttpStream&) = delete;
  HttpStream& operator=(const HttpStream&) = delete;

  int descriptor() const noexcept { return descriptor_; }

  // Returns the next head with its empty line; nullopt at the end of the stream, after an error,
  // or if it is longer than 64 KiB.
  std::optional<std::string> ReadHead();

  // Returns the next `size` bytes, or fewer at the end of the stream.
  std::string Read(uint64_t size);

  // Takes what was read already, `size` bytes at most.
  std::string TakeBuffered(uint64_t size);

  // Tells whether all was sent.
  bool Write(const std::string& bytes) const;

 private:
  const int descriptor_;
  std::string buffered_;
};

// Returns a header's value, by its name in any case; empty: none.
std::string Header(const std::string& head, const std::string& name);

// Returns the head with another value of a header that it has.
std::string WithHeader(std::string head, const std::string& name, const std::string& value);

}  // namespace recpack::bench
