// Samples that are made of files, members of archives or rows when they are read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "recpack/loader/dataset.h"
#include "src/loader/data/sample_store.h"
#include "src/pack/item/source.h"

namespace recpack {

// `kind` as RecogniseSource() has it, of all paths. Throws Error as Dataset::Open().
std::shared_ptr<const pack::Source> OpenItems(const std::string& kind,
                                              const std::vector<std::string>& paths,
                                              const DatasetOptions& options);

// A split of the source. `root` comes before the names of items where records are told the place
// of.
std::unique_ptr<SampleStore> MakeItemStore(std::shared_ptr<const pack::Source> source, size_t split,
                                           std::string root);

}  // namespace recpack
