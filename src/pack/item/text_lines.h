// Cuts a stream of bytes into lines.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "recpack/base/bytes.h"
#include "recpack/base/file.h"

namespace recpack::pack {

struct TextLine {
  std::string_view text;  // without its end
  uint64_t number = 0;    // from 1
  uint64_t offset = 0;    // bytes from the start of the stream
  bool too_long = false;  // only the beginning is in `text`
};

// Gives every line to `sink`, also the last one where it has no end. Holds one line at most, of
// `most_bytes` at most. One thread at a time.
class TextLines {
 public:
  using Sink = std::function<void(const TextLine& line)>;

  TextLines(size_t most_bytes, Sink sink) : most_bytes_(most_bytes), sink_(std::move(sink)) {}

  void Add(ByteView piece);
  void Finish();  // after the last piece

 private:
  void Keep(std::string_view part);
  void Emit(std::string_view text);

  size_t most_bytes_;
  Sink sink_;
  std::string begun_;    // of a line that goes on in the next piece
  uint64_t bytes_ = 0;   // of that line so far, also what was not kept
  uint64_t number_ = 0;  // lines before it
  uint64_t offset_ = 0;  // where it begins
};

// Gives the bytes of the file to `sink` in pieces, uncompressed where it is compressed. Throws what
// reading or unpacking it does, and what `sink` throws.
void ReadPieces(const ReadableFile& file, const std::function<void(ByteView)>& sink);

}  // namespace recpack::pack
