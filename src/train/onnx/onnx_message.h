// Walks the fields of the messages of an ONNX file, whose numbers are those of onnx.proto.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "src/base/wire_reader.h"

namespace recpack::train {

inline std::string ToText(ByteView bytes) { return std::string(AsText(bytes)); }

// Throws errors of WireReader.
class OnnxMessages {
 public:
  // `file`: outlives this object; offsets of errors count from its beginning.
  explicit OnnxMessages(ByteView file) : base_(file.data()) {}

  // Calls take(field, reader) for each field; false: it is skipped.
  template <typename Take>
  void Walk(ByteView message, const Take& take) const {
    WireReader reader(base_, message);
    while (!reader.AtEnd()) {
      const uint32_t tag = reader.ReadTag();
      wire_ = tag & 7;
      if (!take(tag >> 3, reader)) reader.Skip(tag, 0);
    }
  }

  // Integers of a repeated field, packed or not.
  void AddIntegers(WireReader& reader, std::vector<int64_t>& to) const {
    if (wire_ == kVarint) return to.push_back(static_cast<int64_t>(reader.ReadVarint()));
    WireReader packed(base_, reader.ReadLengthDelimited());
    while (!packed.AtEnd()) to.push_back(static_cast<int64_t>(packed.ReadVarint()));
  }

  void AddFloats(WireReader& reader, std::vector<float>& to) const {
    if (wire_ == kFixed32) return to.push_back(std::bit_cast<float>(reader.ReadFixed32()));
    WireReader packed(base_, reader.ReadLengthDelimited());
    while (!packed.AtEnd()) to.push_back(std::bit_cast<float>(packed.ReadFixed32()));
  }

 private:
  const uint8_t* base_;
  mutable uint32_t wire_ = 0;  // type of the field that was read last
};

}  // namespace recpack::train
