// Reads the files that a manifest lists beside its shards, such as a vocabulary.
#pragma once

#include <string>

#include "recpack/base/bytes.h"
#include "recpack/base/hash.h"
#include "src/shards/manifest/manifest.h"

namespace recpack {

Sha256Digest DigestOf(ByteView bytes);

// The file's bytes, as the manifest in FOLDER lists it. Throws Error: kCorrupt where it is another
// one, kNotFound, kIo.
ByteBuffer ReadSideFile(const std::string& folder, const ManifestFile& file);

}  // namespace recpack
