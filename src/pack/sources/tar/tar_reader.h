// Reads samples of tar archives.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/pack/item/image_fields.h"
#include "src/pack/item/source.h"
#include "src/pack/sources/tar/tar.h"
#include "src/pack/sources/tar/tar_samples.h"
#include "src/pack/sources/tar/tar_volumes.h"

namespace recpack::pack {

// Extension of a member with the number of a sample's class.
inline constexpr std::string_view kClassExtension = "cls";

// How members with some extensions are packed; resolved once for all samples.
struct TarField {
  enum class Kind { kBytes, kNumber, kImage, kLabel, kCheckedImage } kind = Kind::kBytes;
  std::string name;                  // of the feature
  std::vector<uint32_t> extensions;  // the first that a sample has is used

  // Returns the sample's member for this field, or null.
  const TarSampleMember* Find(std::span<const TarSampleMember> members) const;
};

// The items of a tar source, shared by its readers.
struct TarItems {
  const TarOptions options;
  TarVolumes volumes;
  TarSamples samples = {};
  std::vector<TarField> fields = {};
  mutable ImageCounters counters = {};

  // "ARCHIVE:KEY".
  std::string Name(uint64_t item) const;
};

// `items` must outlive the reader.
std::unique_ptr<ItemReader> MakeTarReader(const TarItems& items);

}  // namespace recpack::pack
