// Reader of the files that a manifest lists beside its shards, such as a vocabulary.
#pragma once

#include <string>

#include "recpack/base/bytes.h"
#include "recpack/base/hash.h"
#include "src/shards/manifest/manifest.h"

namespace recpack {

Sha256Digest ContentDigest(ByteView bytes);

// Reads a file that the manifest in `folder` lists. Throws Error: kCorrupt if its size or digest
// differs, kNotFound, kIo.
ByteBuffer ReadSideFile(const std::string& folder, const ManifestFile& file);

}  // namespace recpack
