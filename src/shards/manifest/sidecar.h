// What is kept of a shard beside it: for going on after an interruption, and for the manifest.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "recpack/base/file.h"
#include "src/shards/manifest/manifest.h"

namespace recpack {

// Beside the shards: plan, sidecars, and what is being written.
inline constexpr char kStateFolder[] = ".recpack";

struct Sidecar {
  ManifestShard shard;
  std::map<int64_t, uint64_t> class_counts;  // records by label
  std::vector<ManifestFeature> schema;       // of the shard's first records
  std::vector<SkippedItem> skipped;
};

// Of a shard in the output folder `out`.
std::string SidecarPath(const std::string& out, const std::string& file);

std::string SidecarToJson(const Sidecar& sidecar);

// Throws Error (kCorrupt) naming `path`.
Sidecar ReadSidecar(FileSystem& files, const std::string& path);

}  // namespace recpack
