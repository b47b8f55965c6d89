// Samples that lie in shards.
#pragma once

#include <memory>

#include "recpack/base/file.h"
#include "recpack/dataset/layout.h"
#include "src/pipeline/sample_store.h"

namespace recpack {

// `files` outlives the store; shards are read through it. Throws Error as Dataset::Open().
std::unique_ptr<SampleStore> OpenRecordStore(const LayoutSplit& split, FileSystem& files);

}  // namespace recpack
