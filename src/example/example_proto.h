// tf.train.Example as a Protocol Buffers message, for text and JSON output and as the oracle of the
// tests. Not used in hot paths.
#pragma once

#include <google/protobuf/message.h>

#include <memory>

#include "recpack/base/bytes.h"

namespace recpack {

// Makes an empty message. Its type is built at run time in a private descriptor pool, so that it
// does not clash with TensorFlow's generated types of the same name in one process. Thread-safe.
std::unique_ptr<google::protobuf::Message> NewExampleMessage();

// Parses a record. Throws Error (kCorrupt) with the byte offset if Protocol Buffers cannot parse
// it.
std::unique_ptr<google::protobuf::Message> ParseExampleMessage(ByteView record);

}  // namespace recpack
