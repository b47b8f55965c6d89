// Stream buffer over a file, decompressed if it is in gzip format.
#pragma once

#include <cstdint>
#include <istream>
#include <memory>
#include <streambuf>
#include <string>
#include <vector>

namespace recpack::probe {

class GzipInput : public std::streambuf {
 public:
  // Throws Error (kNotFound, kIo). Reading throws Error (kIo, kCorrupt).
  explicit GzipInput(std::string path);
  ~GzipInput() override;

  // Tells whether all of the file was read.
  bool ended() const noexcept { return ended_; }
  // Returns the number of decompressed bytes read so far.
  uint64_t bytes() const noexcept { return bytes_; }

 protected:
  int_type underflow() override;

 private:
  struct File;
  const std::string path_;
  std::unique_ptr<File> file_;
  std::vector<char> buffer_;
  uint64_t bytes_ = 0;
  bool ended_ = false;
};

}  // namespace recpack::probe
