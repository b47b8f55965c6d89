// Sample store whose samples lie in shards.
#pragma once

#include <memory>

#include "recpack/base/file.h"
#include "src/loader/data/sample_store.h"
#include "src/shards/layout/layout.h"

namespace recpack {

// Reads shards with `files`, which must outlive the store. Throws Error as Dataset::Open().
std::unique_ptr<SampleStore> OpenRecordStore(const LayoutSplit& split, FileSystem& files);

}  // namespace recpack
