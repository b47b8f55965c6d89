// What is kept of a shard whose last byte was written.
#pragma once

#include <string>

#include "recpack/dataset/pack.h"
#include "recpack/record/index.h"
#include "recpack/record/writer.h"

namespace recpack {

// Of a writer that is finished, for the manifest.
ManifestShard DescribeShard(const RecordWriter& writer, const std::string& file);

// The one-shard index at `path`.
void WriteIndexPart(ShardEntries entries, const std::string& file, const std::string& path,
                    const PackOptions& options);

}  // namespace recpack
