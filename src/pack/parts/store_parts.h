// Parts in an object store, whose shards are copied within the store.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/pack/parts/joined_parts.h"
#include "src/pack/parts/parts.h"
#include "src/remote/store/object.h"

namespace recpack::pack {

// The names of what a job makes have a part of the job's: of jobs that publish at once none writes
// another one's objects, and their manifests are written one after the other, or refused. If
// Publish() fails, the data set is what it was before, unless the store's answer to the last
// request was lost.
class StoreParts : public Parts {
 public:
  // As OpenParts().
  StoreParts(const std::string& url, std::string split, std::string job, bool overwrite);

  void Begin() const override;
  void RefuseEnded() const override;
  std::string Staging() const override { return {}; }
  void Add(const std::string& folder, const std::string& name) const override;
  void Publish(const std::vector<std::string>& names) const override;
  // Removes uploads that are not finished, too.
  void Discard() const override;

 private:
  std::string Url(const std::string& name) const { return url_ + "/" + name; }
  std::string PartUrl(const std::string& name) const { return parts_ + "/" + name; }
  std::string OpenMark() const { return PartUrl("open"); }
  // The manifest that is there, or null.
  std::unique_ptr<const remote::Object> FindManifest() const;
  void WriteIndex(const JoinedParts& joined) const;
  void CopyShards(const JoinedParts& joined) const;
  void WriteManifest(const Manifest& manifest, const remote::Object* there) const;
  bool IsListed(const JoinedParts& joined) const;
  void RemoveOld(const Manifest& old) const;
  void RemoveMade(const JoinedParts& joined) const noexcept;

  const std::string url_;
  const std::string split_;
  const std::string mark_;   // in the names of what the job makes
  const std::string parts_;  // URL of the parts' "folder"
  const bool overwrite_;
};

}  // namespace recpack::pack
