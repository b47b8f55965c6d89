// Parts in a folder that all tasks see, whose shards are renamed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/pack/parts/joined_parts.h"
#include "src/pack/parts/parts.h"

namespace recpack::pack {

// A data set that is to be overwritten is removed when all parts are there and before their shards
// get their names, as both have the usual ones. Jobs that publish in the same moment are not told
// from each other.
class FolderParts : public Parts {
 public:
  // As OpenParts().
  FolderParts(const std::string& out, std::string split, const std::string& job, bool overwrite);

  void Begin() const override;
  void RefuseEnded() const override;
  std::string Staging() const override { return parts_; }
  void Add(const std::string& folder, const std::string& name) const override;
  void Publish(const std::vector<std::string>& names) const override;
  void Discard() const override;

 private:
  std::optional<Manifest> FindManifest() const;
  void RemoveOld(const Manifest& old) const;

  const std::string out_;
  const std::string split_;
  const std::string parts_;  // folder
  const bool overwrite_;
};

}  // namespace recpack::pack
