// Writes the side files of a source, such as a vocabulary, and checks that they and the class names
// fit the data set that the source is appended to.
#pragma once

#include <string>

#include "recpack/base/bytes.h"
#include "src/pack/item/source.h"
#include "src/pack/job/pack_folder.h"
#include "src/shards/manifest/manifest.h"

namespace recpack::pack {

// Tells whether the manifest of the folder `out` lists the file. Throws Error (kInvalidArgument) if
// it lists a different file of the same name.
bool FindSideFile(const SideFile& file, const Manifest& manifest, const std::string& out);

// Throws Error (kInvalidArgument) with the folder `out` if labels or the numbers explained by side
// files would mean something else in the existing data set.
void CheckAppend(const Source& source, const Manifest& base, const std::string& out);

// Writes the source's side files into the folder and lists them in the manifest. Throws Error as
// FindSideFile().
void WriteSideFiles(const Source& source, const PackFolder& folder, const PackOptions& options,
                    Manifest& manifest);

}  // namespace recpack::pack
