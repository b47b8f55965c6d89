// Creates, describes, indexes and publishes the file of one shard.
#pragma once

#include <string>

#include "recpack/record/index.h"
#include "recpack/record/writer.h"
#include "src/pack/job/pack.h"
#include "src/pack/job/pack_folder.h"
#include "src/shards/manifest/manifest.h"
#include "src/shards/manifest/sidecar.h"

namespace recpack::pack {

// Creates a writer for the shard at `path` with the given options.
RecordWriter StartShard(const std::string& path, const PackOptions& options);

// Returns the manifest entry of a shard whose writer is finished.
ManifestShard DescribeShard(const RecordWriter& writer, const std::string& file);

// Writes the one-shard index to `path`.
void WriteIndexPart(ShardEntries entries, const std::string& file, const std::string& path,
                    const PackOptions& options);

// Stores the sidecar, then renames the shard's temporary file into place.
void PublishShard(const std::string& file, const Sidecar& sidecar, const PackFolder& folder,
                  const PackOptions& options);

}  // namespace recpack::pack
