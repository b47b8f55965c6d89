// Compression of shards as other writers do it.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include "recpack/base/bytes.h"

namespace recpack {

// `window_bits`: 15 makes a zlib stream, 31 a gzip one. `flushed`: adds a flush point after the
// header, which marks shards of RecordWriter.
inline ByteBuffer Deflated(ByteView bytes, int window_bits, bool flushed = false) {
  ByteBuffer out(bytes.size() + 1000);
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  if (flushed) {
    EXPECT_EQ(deflate(&stream, Z_FULL_FLUSH), Z_OK);
  }
  stream.next_in = const_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace recpack
