// Parts as one split: names of its shards, its index and manifest.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/shards/manifest/manifest.h"

namespace recpack::pack {

inline constexpr int kPartsAtOnce = 16;  // that are read or moved; most of the time is waiting

struct JoinedParts {
  ManifestSplit split;               // with the names that the shards get
  std::vector<std::string> from;     // paths of the shards in their parts
  std::vector<size_t> first;         // number of the first shard of each part
  std::vector<size_t> counts;        // shards of each part
  std::vector<std::string> indexes;  // paths of the parts' indexes
};

// Reads the manifests of the parts in the folders `paths`.
std::vector<Manifest> ReadManifests(FileSystem& files, const std::vector<std::string>& paths);

// Joins the parts in the folders `paths`, in their order; `manifests`: theirs. Files of the split
// are NAME-00000-of-00003.tfrecord and NAME.recindex.
JoinedParts JoinParts(const std::string& split, const std::string& name,
                      const std::vector<std::string>& paths,
                      const std::vector<Manifest>& manifests);

// Returns the manifest of the joined split, and of what `old` has; null: nothing.
Manifest JoinedManifest(const Manifest* old, const std::vector<Manifest>& manifests,
                        const ManifestSplit& split);

// Writes the index of the joined split. `indexes`: those of the parts on the disk. Throws Error:
// kCorrupt if one has other shards than the part's manifest; kIo.
void WriteJoinedIndex(const JoinedParts& joined, const std::vector<std::string>& indexes,
                      const std::string& path);

// Throws Error (kInvalidArgument) if the data set has the split. `out`: where it is.
void RefuseSplit(const Manifest& there, const std::string& split, const std::string& out);

// Throws the Error (kInvalidArgument) for a folder with other files, such as `file`.
[[noreturn]] void RefuseOtherFiles(const std::string& file, const std::string& out);

// Throws the Error (kNotFound) of an attempt that comes when its job has ended.
[[noreturn]] void RefuseLate(const std::string& out);

}  // namespace recpack::pack
