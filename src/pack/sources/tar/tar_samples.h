// Groups the members of archives into samples.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/pack/sources/tar/tar_index.h"

namespace recpack::pack {

// Maximum number of distinct extensions, and so of fields and of members per sample.
inline constexpr size_t kMostExtensions = 1000;

// Assigns small numbers to extensions. Throws Error (kInvalidArgument) without a place for more
// than kMostExtensions.
class ExtensionNumbers {
 public:
  uint32_t Number(std::string_view text);
  const std::string& Text(uint32_t number) const { return texts_[number]; }
  size_t size() const { return texts_.size(); }

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, uint32_t> numbers_;
};

struct TarSampleMember {
  uint64_t offset = 0;     // in the file of its volume
  uint64_t size = 0;       // bytes
  uint32_t extension = 0;  // number in TarSamples::extensions
};
static_assert(sizeof(TarSampleMember) == 24);  // docs/reference/sources.md says so

struct TarSample {
  uint64_t first_member = 0;
  uint64_t key = 0;  // offset of its key in TarSamples::keys
  uint32_t volume = 0;
};
static_assert(sizeof(TarSample) == 24);

struct TarSamples {
  std::vector<TarSample> samples;
  std::vector<TarSampleMember> members;
  std::string keys;  // each ends with a zero byte
  ExtensionNumbers extensions;
  uint64_t links = 0;
  uint64_t without_extension = 0;  // members, including those with __NAME__ in their path

  std::string_view Key(size_t sample) const { return keys.c_str() + samples[sample].key; }
  std::span<const TarSampleMember> Members(size_t sample) const;

  // Adds a member of `volume`; errors carry `path`. Throws Error (kCorrupt) if the sample already
  // has a member with this extension.
  void Add(uint32_t volume, const std::string& path, const TarMember& member);

  // Appends the samples of later volumes.
  void Append(const TarSamples& later);

 private:
  uint32_t ExtensionNumber(std::string_view extension, const std::string& path);
};

}  // namespace recpack::pack
