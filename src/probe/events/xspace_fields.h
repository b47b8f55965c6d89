// Reads the fields of an XSpace, as TensorFlow's and JAX's profilers write it.
#pragma once

#include <google/protobuf/io/coded_stream.h>

#include <climits>
#include <cstdint>
#include <string>
#include <string_view>

#include "recpack/base/error.h"

namespace recpack::probe {

// A field of a message. What its number means is in xplane.proto of OpenXLA
// (third_party/tsl/tsl/profiler/protobuf).
struct XSpaceField {
  uint32_t number = 0;
  uint64_t integer = 0;    // of a number
  std::string_view bytes;  // of text or a message
};

// The bytes of a file, of which messages are views.
struct XSpaceBytes {
  const std::string& path;
  const std::string_view all;

  [[noreturn]] void Damaged(const char* at) const {
    throw Error(ErrorKind::kCorrupt, "not an XSpace of TensorFlow's or JAX's profiler",
                {.path = path, .offset = static_cast<uint64_t>(at - all.data())},
                "it was cut or damaged: write it again");
  }

  // Calls visit(field) for each field of a message, which lies within `all`. Throws Error
  // (kCorrupt) with the place in the file.
  template <typename Visit>
  void ForFields(std::string_view message, const Visit& visit) const {
    google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(message.data()),
                                                  static_cast<int>(message.size()));
    const auto at = [&] { return message.data() + stream.CurrentPosition(); };
    for (uint32_t tag = 0; at() != message.data() + message.size();) {
      tag = stream.ReadTag();
      XSpaceField field{.number = tag >> 3, .bytes = {}};
      uint32_t length = 0;
      bool read = field.number > 0;
      switch (tag & 7) {
        case 0:
          read = read && stream.ReadVarint64(&field.integer);
          break;
        case 1:
          read = read && stream.ReadLittleEndian64(&field.integer);
          break;
        case 2:
          read = read && stream.ReadVarint32(&length) && length <= INT_MAX;
          field.bytes = {at(), length};
          read = read && stream.Skip(static_cast<int>(length));
          break;
        case 5:
          read = read && stream.ReadLittleEndian32(&length);
          break;
        default:
          read = false;
      }
      if (!read) Damaged(at());
      visit(field);
    }
  }
};

}  // namespace recpack::probe
