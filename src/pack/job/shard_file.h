// Begins and ends the file of one shard of a pack.
#pragma once

#include <string>

#include "recpack/record/index.h"
#include "recpack/record/writer.h"
#include "src/pack/job/pack.h"

namespace recpack::pack {

// A writer of the shard at `path`, as the options have it.
RecordWriter StartShard(const std::string& path, const PackOptions& options);

// Of a writer that is finished, for the manifest.
ManifestShard DescribeShard(const RecordWriter& writer, const std::string& file);

// The one-shard index at `path`.
void WriteIndexPart(ShardEntries entries, const std::string& file, const std::string& path,
                    const PackOptions& options);

}  // namespace recpack::pack
