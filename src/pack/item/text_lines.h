// Splits a stream of bytes into lines.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "recpack/base/bytes.h"
#include "recpack/base/file.h"

namespace recpack::pack {

struct TextLine {
  std::string_view text;  // without the line end
  uint64_t number = 0;    // from 1
  uint64_t offset = 0;    // from the start of the stream [bytes]
  bool too_long = false;  // `text` has only the beginning
};

// Passes every line to `sink`, including a last line without a line end. Buffers at most one line
// of at most `most_bytes`. Not thread-safe.
class TextLines {
 public:
  using Sink = std::function<void(const TextLine& line)>;

  TextLines(size_t most_bytes, Sink sink) : most_bytes_(most_bytes), sink_(std::move(sink)) {}

  void Add(ByteView piece);
  void Finish();  // call after the last piece

 private:
  void Keep(std::string_view part);
  void Emit(std::string_view text);

  size_t most_bytes_;
  Sink sink_;
  std::string begun_;    // line that continues in the next piece
  uint64_t bytes_ = 0;   // of that line so far, including bytes that were dropped
  uint64_t number_ = 0;  // lines before it
  uint64_t offset_ = 0;  // of its first byte
};

// Passes the bytes of the file to `sink` in pieces; a compressed file is decompressed. Throws Error
// if reading or decompressing fails, and whatever `sink` throws.
void ReadPieces(const ReadableFile& file, const std::function<void(ByteView)>& sink);

}  // namespace recpack::pack
