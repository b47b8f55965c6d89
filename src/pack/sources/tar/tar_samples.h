// Groups the members of archives to samples.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/pack/sources/tar/tar_index.h"

namespace recpack::pack {

// Extensions, and so fields and members of a sample, that archives may have.
inline constexpr size_t kMostExtensions = 1000;

// Gives equal texts equal small numbers. Throws Error (kInvalidArgument), without a place, beyond
// kMostExtensions.
class ExtensionNumbers {
 public:
  uint32_t NumberOf(std::string_view text);
  const std::string& Text(uint32_t number) const { return texts_[number]; }
  size_t size() const { return texts_.size(); }

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, uint32_t> numbers_;
};

struct TarSampleMember {
  uint64_t offset = 0;     // in the file of its volume
  uint64_t size = 0;       // bytes
  uint32_t extension = 0;  // into TarSamples::extensions
};
static_assert(sizeof(TarSampleMember) == 24);  // docs/sources.md says so

struct TarSample {
  uint64_t first_member = 0;
  uint64_t key = 0;  // where it begins in TarSamples::keys
  uint32_t volume = 0;
};
static_assert(sizeof(TarSample) == 24);

struct TarSamples {
  std::vector<TarSample> samples;
  std::vector<TarSampleMember> members;
  std::string keys;  // each ends with a zero byte
  ExtensionNumbers extensions;
  uint64_t links = 0;
  uint64_t without_extension = 0;  // members, and those with __NAME__ in their path

  std::string_view Key(size_t sample) const { return keys.c_str() + samples[sample].key; }
  std::span<const TarSampleMember> Members(size_t sample) const;

  // Adds a member of `volume` called `path` in errors. Throws Error (kCorrupt) for a member that
  // its sample has already.
  void Add(uint32_t volume, const std::string& path, const TarMember& member);

  // Appends what was found in later volumes.
  void Append(const TarSamples& later);

 private:
  uint32_t NumberOf(std::string_view extension, const std::string& path);
};

}  // namespace recpack::pack
