#include "src/pack/item/text_lines.h"

#include <algorithm>

#include "src/pack/item/unpack.h"

namespace recpack::pack {

void TextLines::Add(ByteView piece) {
  std::string_view rest = AsText(piece);
  for (size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (bytes_ == 0) {
      bytes_ = part.size();
      Emit(part.substr(0, most_bytes_));
    } else {
      Keep(part);
      Emit(begun_);
    }
    offset_ += 1;  // line end
  }
  Keep(rest);
}

void TextLines::Finish() {
  if (bytes_ > 0) Emit(begun_);
}

void TextLines::Keep(std::string_view part) {
  bytes_ += part.size();
  begun_.append(part.substr(0, most_bytes_ - begun_.size()));
}

void TextLines::Emit(std::string_view text) {
  sink_({.text = text, .number = ++number_, .offset = offset_, .too_long = bytes_ > most_bytes_});
  offset_ += bytes_;
  bytes_ = 0;
  begun_.clear();
}

void ReadPieces(const ReadableFile& file, const std::function<void(ByteView)>& sink) {
  if (IsCompressed(file)) return Unpack(file, sink);
  ByteBuffer buffer(size_t{1} << 18);
  for (uint64_t offset = 0;;) {
    const size_t got = file.ReadAt(offset, buffer);
    if (got > 0) sink(ByteView(buffer).first(got));
    offset += got;
    if (got < buffer.size()) return;
  }
}

}  // namespace recpack::pack
