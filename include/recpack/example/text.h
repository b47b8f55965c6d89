// Records as text: for people, and for other programs.
#pragma once

#include <string>
#include <string_view>

#include "recpack/base/bytes.h"

namespace recpack {

// A line a feature, in ascending order of names: `NAME: bytes [VALUE, ...]`. Bytes that are short
// printable UTF-8 are quoted, others given as "<3072 bytes>"; at most `max_values` values of a list
// are shown. Throws Error (kCorrupt).
std::string ExampleSummary(ByteView record, size_t max_values = 8);

// Protocol Buffers' text format, whole. Throws Error (kCorrupt) with the byte offset in the record.
std::string ExampleToText(ByteView record);

// Protocol Buffers' JSON mapping on one line: bytes in base64, int64 as strings. Throws Error as
// ExampleToText().
std::string ExampleToJson(ByteView record);

// The reverse, serialised as ExampleBuilder does it: features by name. Throws Error
// (kInvalidArgument) that says what is wrong with the JSON.
ByteBuffer ExampleFromJson(std::string_view json);

}  // namespace recpack
