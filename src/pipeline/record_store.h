// Samples that lie in shards.
#pragma once

#include <memory>

#include "recpack/base/file.h"
#include "recpack/dataset/layout.h"
#include "src/pipeline/sample_store.h"

namespace recpack {

// `path` is what the user named, for messages. `files` outlives the store; shards are read through
// it. Throws Error as Dataset::Open().
std::unique_ptr<SampleStore> OpenRecordStore(const LayoutSplit& split, const std::string& path,
                                             FileSystem& files);

}  // namespace recpack
