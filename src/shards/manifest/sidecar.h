// Sidecar of a shard: metadata stored while packing, to resume after an interruption and to write
// the manifest.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "recpack/base/file.h"
#include "src/shards/manifest/manifest.h"

namespace recpack {

// Folder beside the shards for the plan, sidecars and unfinished files.
inline constexpr char kStateFolder[] = ".recpack";

struct Sidecar {
  ManifestShard shard;
  std::map<int64_t, uint64_t> class_counts;  // records by label
  std::vector<ManifestFeature> schema;       // inferred from the shard's first records
  std::vector<SkippedItem> skipped;
};

// Returns the path of the sidecar of the shard `file` in the output folder `out`.
std::string SidecarPath(const std::string& out, const std::string& file);

std::string SidecarToJson(const Sidecar& sidecar);

// Throws Error (kCorrupt) with `path`.
Sidecar ReadSidecar(FileSystem& files, const std::string& path);

// Returns the sidecar of a complete shard of `out`; nullopt if the shard is missing or its size
// differs from the sidecar. Throws Error (kIo).
std::optional<Sidecar> FindSidecar(FileSystem& files, const std::string& out,
                                   const std::string& file);

}  // namespace recpack
