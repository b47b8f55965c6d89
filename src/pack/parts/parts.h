// Parts of a split: data sets that the tasks of a cluster write, which become the split once all of
// them are there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "recpack/base/error.h"
#include "src/shards/manifest/manifest.h"

namespace recpack::pack {

// A job of a cluster, in its driver and in each of its tasks. Each attempt of a task adds a part of
// its own name, in ".parts-JOB" of the data set's folder. Publish() makes the split of those that
// count. Thread-safe.
class Parts {
 public:
  virtual ~Parts() = default;

  // Lets tasks add parts. Throws Error: kInvalidArgument if the data set that is there has the
  // split already, and is not overwritten, or if there are other files; kUnsupported if a store
  // tells no versions; kIo; kCorrupt.
  virtual void Begin() const = 0;

  // Throws Error (kNotFound) if the job has been published or discarded: this attempt came too
  // late.
  virtual void RefuseEnded() const = 0;

  // Returns the folder below which tasks make what they add; empty: any on the disk.
  virtual std::string Staging() const = 0;

  // Adds the data set in `folder`, which has this split alone. Nothing of it stays if it fails, or
  // if the job has ended meanwhile. Throws as RefuseEnded(); Error: kIo, kCorrupt.
  virtual void Add(const std::string& folder, const std::string& name) const = 0;

  // Makes the split of the parts of these names, in this order, and removes all parts. Throws
  // Error: kInvalidArgument if another job has written this split, or the manifest, since; kIo;
  // kCorrupt.
  virtual void Publish(const std::vector<std::string>& names) const = 0;

  // Removes all parts. Throws Error (kIo).
  virtual void Discard() const = 0;
};

// Returns the parts of a job that makes `split` of the data set at `out`: a folder that all tasks
// see, made if needed, or an s3:// or gs:// URL. `job`: name that no other job has, of at least 8
// letters and digits. `overwrite`: the data set that is there, with all its splits, is removed once
// the new one is complete. Throws Error: kInvalidArgument for `out`; kUnsupported for a web server.
std::unique_ptr<Parts> OpenParts(const std::string& out, std::string split, std::string job,
                                 bool overwrite);

}  // namespace recpack::pack
