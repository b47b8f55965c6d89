// What is kept of a shard beside it: for going on after an interruption, and for the manifest.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "recpack/dataset/manifest.h"

namespace recpack {

struct Sidecar {
  ManifestShard shard;
  std::map<int64_t, uint64_t> class_counts;  // records by label
  std::vector<ManifestFeature> schema;       // of the shard's first records
  std::vector<SkippedItem> skipped;
};

std::string SidecarToJson(const Sidecar& sidecar);

// Throws Error (kCorrupt) naming `path`.
Sidecar SidecarFromJson(const std::string& text, const std::string& path);

}  // namespace recpack
