#include "src/image/avif/avif_boxes.h"

#include "recpack/base/error.h"

namespace recpack {
namespace {

constexpr size_t kHeaderBytes = 8, kLongHeaderBytes = 16;

uint64_t BigEndian(ByteView bytes) {
  uint64_t value = 0;
  for (const uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

[[noreturn]] void ThrowCut(size_t offset) {
  throw Error(ErrorKind::kCorrupt, "the AVIF is cut off in its header", {.offset = offset});
}

}  // namespace

std::optional<IsoBox> IsoBoxes::Next() {
  if (rest_.empty()) return {};
  if (rest_.size() < kHeaderBytes) ThrowCut(offset_);
  uint64_t size = BigEndian(rest_.first(4));
  size_t header = kHeaderBytes;
  if (size == 1) {
    if (rest_.size() < kLongHeaderBytes) ThrowCut(offset_);
    size = BigEndian(rest_.subspan(kHeaderBytes, 8));
    header = kLongHeaderBytes;
  } else if (size == 0) {  // up to the end
    size = rest_.size();
  }
  if (size < header || size > rest_.size()) ThrowCut(offset_);
  IsoBox box{.type = AsText(rest_.subspan(4, 4)),
             .content = rest_.subspan(header, size - header),
             .offset = offset_ + header};
  rest_ = rest_.subspan(size);
  offset_ += size;
  return box;
}

std::optional<IsoBox> IsoBoxes::Next(std::string_view type) {
  while (std::optional<IsoBox> box = Next()) {
    if (box->type == type) return box;
  }
  return {};
}

uint32_t IsoNumbers::Next(size_t bytes) {
  if (box_.content.size() - at_ < bytes) ThrowCut(box_.offset + at_);
  const auto value = static_cast<uint32_t>(BigEndian(box_.content.subspan(at_, bytes)));
  at_ += bytes;
  return value;
}

}  // namespace recpack
