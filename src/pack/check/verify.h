// Verifies a data set: checksums, Examples, and agreement with manifest and index.
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
  bool decode = false;  // decode the pictures in bytes features, too (PictureFeatures)
  std::function<void(uint64_t bytes)> progress = {};  // bytes of shards done; never concurrent
};

struct Finding {
  std::string path;
  std::optional<uint64_t> offset;   // in the shard's uncompressed bytes
  std::optional<uint64_t> ordinal;  // in the shard
  std::string reason;
};

struct VerifyResult {
  uint64_t records = 0;           // intact ones
  uint64_t bytes = 0;             // of the shard files
  std::vector<Finding> findings;  // in order of shards, then indexes and other files
};

// Reports damage as findings and never throws for it. Throws Error (kIo) if it cannot continue.
VerifyResult Verify(const Layout& layout, const VerifyOptions& options);

}  // namespace recpack::pack
