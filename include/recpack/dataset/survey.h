// What a manifest would say of shards that have none.
#pragma once

#include "recpack/dataset/layout.h"

namespace recpack {

// The layout's own manifest if it has one; else reads every record once: counts, sizes, schema (of
// the first records of each shard) and classes (by the feature `image/class/label` or `label`,
// where it is one int64). Throws Error at the first damage.
Manifest SurveyDataset(const Layout& layout, int threads = 0);

}  // namespace recpack
