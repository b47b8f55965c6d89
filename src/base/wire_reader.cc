#include "src/base/wire_reader.h"

#include <string>

#include "recpack/base/error.h"

namespace recpack {
namespace {

// Nesting limit of Protocol Buffers; counts messages and groups.
constexpr int kMaxDepth = 100;

}  // namespace

void WireReader::Fail(std::string_view reason) const {
  throw Error(ErrorKind::kCorrupt, std::string(reason),
              {.offset = static_cast<uint64_t>(at_ - base_)});
}

uint64_t WireReader::ReadLongVarint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (at_ == end_) Fail("a number is cut off");
    const uint8_t byte = *at_++;
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  Fail("a number has more than 10 bytes");
}

uint32_t WireReader::ReadLongTag() {
  uint64_t value = 0;
  for (int shift = 0; shift < 35; shift += 7) {
    if (at_ == end_) Fail("a field's tag is cut off");
    const uint8_t byte = *at_++;
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte >= 0x80) continue;
    const auto tag = static_cast<uint32_t>(value);  // drops bits above 32
    if (tag < 8) break;                             // field 0 does not exist
    return tag;
  }
  Fail("a field's tag is invalid");
}

uint64_t WireReader::ReadLongLength() {
  uint64_t value = 0;
  for (int shift = 0; shift < 35; shift += 7) {
    if (at_ == end_) Fail("a length is cut off");
    const uint8_t byte = *at_++;
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  Fail("a length has more than 5 bytes");
}

void WireReader::Skip(uint32_t tag, int depth) {
  switch (tag & 7) {
    case kVarint:
      ReadVarint();
      return;
    case kFixed64:
      if (left() < 8) Fail("a number is cut off");
      at_ += 8;
      return;
    case kLengthDelimited:
      ReadLengthDelimited();
      return;
    case kStartGroup:
      if (depth >= kMaxDepth) Fail("groups are nested too deeply");
      for (;;) {
        const uint32_t inner = ReadTag();
        if (inner == (tag - kStartGroup + kEndGroup)) return;
        if ((inner & 7) == kEndGroup) Fail("the end of a group without its start");
        Skip(inner, depth + 1);
      }
    case kFixed32:
      ReadFixed32();
      return;
    default:
      Fail("a field has an unknown wire type");
  }
}

}  // namespace recpack
