// Creates, fills, describes and indexes the file of one shard.
#pragma once

#include <string>

#include "recpack/record/index.h"
#include "recpack/record/writer.h"
#include "src/pack/item/source.h"
#include "src/pack/job/pack.h"

namespace recpack::pack {

// Creates a writer for the shard at `path` with the given options.
RecordWriter StartShard(const std::string& path, const PackOptions& options);

// Writes the sample and returns its payload, which is valid until the next record. Throws Error as
// ExampleBuilder::ByteSize() and RecordWriter::Begin() do.
ByteView WriteSample(Sample& sample, RecordWriter& writer);

// Returns the manifest entry of a shard whose writer is finished.
ManifestShard DescribeShard(const RecordWriter& writer, const std::string& file);

// Writes the one-shard index to `path`.
void WriteIndexPart(ShardEntries entries, const std::string& file, const std::string& path,
                    const PackOptions& options);

}  // namespace recpack::pack
