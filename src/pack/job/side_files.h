// Files beside the shards that belong to them, such as a vocabulary.
#pragma once

#include <string>

#include "recpack/base/bytes.h"
#include "src/pack/item/source.h"
#include "src/pack/job/pack_folder.h"
#include "src/shards/manifest/manifest.h"

namespace recpack::pack {

// Whether the manifest of the folder `out` lists the file. Throws Error (kInvalidArgument) where it
// lists another one of that name.
bool FindSideFile(const SideFile& file, const Manifest& manifest, const std::string& out);

// Writes the source's side files into the folder and lists them in the manifest. Throws Error
// as FindSideFile() does.
void WriteSideFiles(const Source& source, const PackFolder& folder, const PackOptions& options,
                    Manifest& manifest);

}  // namespace recpack::pack
