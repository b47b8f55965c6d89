// tf.train.Example as Protocol Buffers itself sees it: for text, JSON and as the oracle of the
// tests. The hot paths do not use it.
#pragma once

#include <google/protobuf/message.h>

#include <memory>

#include "recpack/base/bytes.h"

namespace recpack {

// An empty message. Its type is built at run time in a pool of our own: a program that also loads
// TensorFlow holds generated types of the same names, which must not clash. Any thread.
std::unique_ptr<google::protobuf::Message> NewExampleMessage();

// Throws Error (kCorrupt) with the byte offset where Protocol Buffers cannot parse the record.
std::unique_ptr<google::protobuf::Message> ParseExampleMessage(ByteView record);

}  // namespace recpack
