// Manifest (manifest.json) of a data set (docs/format/manifest.md).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "recpack/base/file.h"
#include "recpack/base/hash.h"
#include "src/shards/manifest/shard_list.h"

namespace recpack {

inline constexpr char kManifestName[] = "manifest.json";

struct ManifestSplit {
  std::string name;
  std::string index;  // file name of the split's index; empty: none
  ShardList shards;
  std::map<int64_t, uint64_t> class_counts;  // records by label; empty if there are no labels

  uint64_t records() const { return shards.records(); }
  uint64_t bytes() const { return shards.bytes(); }
};

// Feature of the records, inferred from a sample.
struct ManifestFeature {
  std::string name;
  std::string kind;        // "bytes", "int64", "float"
  int64_t length = -1;     // values per record; -1: varies
  int64_t min_bytes = -1;  // size of one value of a bytes feature; -1: unknown
  int64_t max_bytes = -1;
};

// Item of the source that was left out.
struct SkippedItem {
  std::string split;
  std::string item;
  std::string reason;
};

// File beside the shards that belongs to the data set, such as a vocabulary.
struct ManifestFile {
  std::string file;  // name in the folder of the manifest
  uint64_t bytes = 0;
  Sha256Digest sha256 = {};
  bool operator==(const ManifestFile&) const = default;
};

struct Manifest {
  std::string source_kind;
  std::string created_by;  // program and version
  std::vector<ManifestSplit> splits;
  std::vector<ManifestFeature> schema;
  std::vector<std::string> class_names;  // by label
  std::map<std::string, std::string> settings;
  std::vector<ManifestFile> files;
  std::vector<SkippedItem> skipped;

  uint64_t records() const;
  uint64_t bytes() const;
  const ManifestSplit* FindSplit(const std::string& name) const;
  // All splits by their names, for callers that look for many. Valid as long as `splits` is.
  std::map<std::string_view, const ManifestSplit*> SplitsByName() const;
  bool Lists(const std::string& shard) const;  // a file name, in any split
  // Names of all files that it lists, and of DALI's indexes of the shards, which need not exist.
  std::vector<std::string> FileNames() const;
};

std::string ManifestToJson(const Manifest& manifest);

// Throws Error: kCorrupt, kUnsupported (a newer version).
Manifest ManifestFromJson(const std::string& text, const std::string& path);

// Writes FOLDER/manifest.json atomically and incrementally, without holding all of its text.
void WriteManifest(FileSystem& files, const std::string& folder, const Manifest& manifest,
                   bool durable = true);

// Reads FOLDER/manifest.json incrementally. Throws Error (kNotFound if there is none).
Manifest ReadManifest(FileSystem& files, const std::string& folder);

}  // namespace recpack
