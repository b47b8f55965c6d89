// Sample store whose samples are made on reading, of files, archive members or rows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "recpack/loader/dataset.h"
#include "src/loader/data/sample_store.h"
#include "src/pack/item/source.h"

namespace recpack {

// Opens the paths as a source. `kind`: the result of RecogniseSource(), common to all paths. Throws
// Error as Dataset::Open().
std::shared_ptr<const pack::Source> OpenItems(const std::string& kind,
                                              const std::vector<std::string>& paths,
                                              const DatasetOptions& options);

// Makes a store of one split of the source. `root` is prepended to item names in places.
std::unique_ptr<SampleStore> MakeItemStore(std::shared_ptr<const pack::Source> source, size_t split,
                                           std::string root);

}  // namespace recpack
