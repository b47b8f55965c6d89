// manifest.json: what makes a folder of shards a data set (docs/format/manifest.md).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "recpack/base/file.h"
#include "recpack/record/compression.h"

namespace recpack {

inline constexpr char kManifestName[] = "manifest.json";

struct ManifestShard {
  std::string file;  // name within the folder
  uint64_t records = 0;
  uint64_t bytes = 0;
  Compression compression = Compression::kNone;
  std::string sha256;  // hexadecimal; empty: not computed
};

struct ManifestSplit {
  std::string name;
  std::string index;  // file name of the split's index; empty: none
  std::vector<ManifestShard> shards;
  std::map<int64_t, uint64_t> class_counts;  // records by label; empty where there are no labels

  uint64_t records() const;
  uint64_t bytes() const;
};

// A feature of the records, as inferred from a sample.
struct ManifestFeature {
  std::string name;
  std::string kind;        // "bytes", "int64", "float"
  int64_t length = -1;     // values in each record; -1: varies
  int64_t min_bytes = -1;  // size of each value of a bytes feature; -1: unknown
  int64_t max_bytes = -1;
};

// An item of the source that was left out.
struct SkippedItem {
  std::string split;
  std::string item;
  std::string reason;
};

struct Manifest {
  std::string source_kind;
  std::string created_by;  // program and version
  std::vector<ManifestSplit> splits;
  std::vector<ManifestFeature> schema;
  std::vector<std::string> class_names;  // by label
  std::map<std::string, std::string> settings;
  std::vector<SkippedItem> skipped;

  uint64_t records() const;
  uint64_t bytes() const;
  const ManifestSplit* FindSplit(const std::string& name) const;
};

std::string ManifestToJson(const Manifest& manifest);

// Throws Error: kCorrupt, kUnsupported (a newer version).
Manifest ManifestFromJson(const std::string& text, const std::string& path);

// Reads FOLDER/manifest.json. Throws Error, kNotFound where there is none.
Manifest ReadManifest(FileSystem& files, const std::string& folder);

}  // namespace recpack
