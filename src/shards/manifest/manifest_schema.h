// Conversion of inferred schemas to the manifest's schema.
#pragma once

#include <vector>

#include "recpack/example/schema.h"
#include "src/shards/manifest/manifest.h"

namespace recpack {

std::vector<ManifestFeature> ToManifest(const std::vector<FeatureSpec>& specs);

// Widens `into` so that it also holds for records that `features` describes.
void MergeSchema(const std::vector<ManifestFeature>& features, std::vector<ManifestFeature>& into);

}  // namespace recpack
