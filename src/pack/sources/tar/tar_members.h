// Members of archives in object stores, kept in the cache folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recpack/base/file.h"
#include "src/pack/sources/tar/tar_index.h"

namespace recpack::pack {

struct TarMembers {
  std::vector<TarMember> members;
  TarSummary summary;
};

// Returns the path of the file for this version of an object; empty if the store tells no version.
std::string PathOfMembers(const ReadableFile& object);

// Loads what SaveTarMembers() wrote; nullopt if there is none, or it is damaged.
std::optional<TarMembers> LoadTarMembers(const std::string& path);

// Saves the members; does nothing where the cache folder cannot be written to.
void SaveTarMembers(const std::string& path, const TarMembers& members) noexcept;

}  // namespace recpack::pack
