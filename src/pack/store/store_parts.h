// Parts of a split in an object store: data sets that the tasks of a cluster write, which become a
// split once all of them are there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/remote/store/object.h"
#include "src/shards/manifest/manifest.h"

namespace recpack::pack {

// A job of a cluster, in its driver and in each of its tasks. Each attempt of a task adds a part of
// its own name below ".parts-JOB/". Publish() copies the shards of those that count, within the
// store, and writes index and manifest. Their names have a part of the job's: of jobs that publish
// at once none writes another one's objects, and their manifests are written one after the other,
// or refused. Thread-safe.
class StoreParts {
 public:
  // `url`: "folder" of the data set, s3:// or gs://. `split`: to be made. `job`: name of the job,
  // which no other has, of at least 8 letters and digits. `overwrite`: the data set that is there,
  // with all its splits, is removed once the new one is complete. Throws Error: kInvalidArgument
  // for `url`; kUnsupported for a web server.
  StoreParts(const std::string& url, std::string split, std::string job, bool overwrite);

  // Lets tasks add parts. Throws Error: kInvalidArgument if the data set that is there has the
  // split already, and is not overwritten, or if there are other objects; kUnsupported if the store
  // tells no versions; kIo; kCorrupt.
  void Begin() const;

  // Throws Error (kNotFound) if the job has been published or discarded: this attempt came too
  // late.
  void RefuseEnded() const;

  // Uploads the data set in `folder`, on the disk, which has this split alone. Nothing of it stays
  // if it fails, or if the job has ended meanwhile. Throws as RefuseEnded(); Error: kIo, kCorrupt.
  void Add(const std::string& folder, const std::string& name) const;

  // Makes the split of the parts of these names, in this order, and removes all parts. Throws
  // Error: kInvalidArgument if another job has written this split, or the manifest, since; kIo;
  // kCorrupt. The data set is then what it was before, unless the store's answer to the last
  // request was lost.
  void Publish(const std::vector<std::string>& names) const;

  // Removes all parts, and uploads that are not finished. Throws Error (kIo).
  void Discard() const;

 private:
  struct Made;

  std::string Url(const std::string& name) const { return url_ + "/" + name; }
  std::string PartUrl(const std::string& name) const { return parts_ + "/" + name; }
  std::string OpenMark() const { return PartUrl("open"); }
  // The manifest that is there, or null.
  std::unique_ptr<const remote::Object> FindManifest() const;
  void RefuseSplit(const Manifest& there) const;
  std::vector<Manifest> ReadManifests(const std::vector<std::string>& names) const;
  Made Join(const std::vector<std::string>& names, const std::vector<Manifest>& parts) const;
  void WriteIndex(const std::vector<std::string>& names, const Made& made) const;
  void CopyShards(const Made& made) const;
  void WriteManifest(const Manifest& manifest, const remote::Object* there) const;
  bool IsListed(const Made& made) const;
  void RemoveOld(const Manifest& old) const;
  void RemoveMade(const Made& made) const noexcept;

  const std::string url_;
  const std::string split_;
  const std::string mark_;   // in the names of what the job makes
  const std::string parts_;  // URL of the parts' "folder"
  const bool overwrite_;
};

}  // namespace recpack::pack
