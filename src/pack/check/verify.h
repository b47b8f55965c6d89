// Checks a data set: every CRC, every parse, and what manifest and index say.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/shards/layout/layout.h"

namespace recpack::pack {

struct VerifyOptions {
  int threads = 0;      // 0: AvailableThreads()
  bool decode = false;  // also decode the JPEG and PNG images in bytes features; what else is
                        // called image/encoded, and no other format, is a finding
  std::function<void(uint64_t bytes)> progress = {};  // bytes of shards done; one call at a time
};

struct Finding {
  std::string path;
  std::optional<uint64_t> offset;   // in the shard's uncompressed bytes
  std::optional<uint64_t> ordinal;  // in the shard
  std::string reason;
};

struct VerifyResult {
  uint64_t records = 0;           // that are whole
  uint64_t bytes = 0;             // of the shards' files
  std::vector<Finding> findings;  // in the order of the shards, then of indexes and other files
};

// Never throws for what it finds in the data; throws Error (kIo) where it cannot go on.
VerifyResult Verify(const Layout& layout, const VerifyOptions& options);

}  // namespace recpack::pack
