// Text and JSON forms of tf.train.Example records.
#pragma once

#include <string>
#include <string_view>

#include "recpack/base/bytes.h"

namespace recpack {

// Formats a record for people: one line `NAME: bytes [VALUE, ...]` per feature, in ascending order
// of names. Short printable UTF-8 bytes are quoted, others given as "<3072 bytes>"; at most
// `max_values` values of a list are shown. Throws Error (kCorrupt).
std::string ExampleSummary(ByteView record, size_t max_values = 8);

// Formats a whole record in Protocol Buffers' text format. Throws Error (kCorrupt) with the byte
// offset in the record.
std::string ExampleToText(ByteView record);

// Formats a record in Protocol Buffers' JSON mapping, on one line: bytes in base64, int64 as
// strings. Throws Error as ExampleToText() does.
std::string ExampleToJson(ByteView record);

// Parses the JSON of ExampleToJson() and serialises the record as ExampleBuilder does, features
// sorted by name. Throws Error (kInvalidArgument) that says what is wrong with the JSON.
ByteBuffer ExampleFromJson(std::string_view json);

}  // namespace recpack
