// State of a pack into an object store that other machines have to know, in ".recpack/" of the
// store: of several tasks the plan, and what each made of its shards; of an append the plan.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/pack/plan/plan.h"
#include "src/remote/store/upload.h"

namespace recpack::pack {

class SharedState {
 public:
  // `folder`: of this machine's state (StoreTarget::folder()).
  SharedState(std::string folder, std::string url);

  // Copies the plan, and what is known of complete shards of this task, from the store. Forgets the
  // folder's state if it is of another job. Throws Error: kIo, kCorrupt.
  void Fetch(uint32_t task, uint32_t tasks);
  // Copies what is known of the shards of all tasks, if they are complete; otherwise nothing.
  void FetchAll();

  // Copies the plans of appends from the store, and returns their names. Forgets the folder's state
  // if it has others. The caller holds the folder's lock.
  std::vector<std::string> FetchAppends() const;

  // Copies a file at `path` to the state in the store. Throws as Upload::Finish().
  void Publish(const std::string& path, const std::string& name,
               remote::Upload::Existing existing) const;

  const std::string& folder() const noexcept { return folder_; }
  const std::string& url() const noexcept { return url_; }
  // A file of the state: in the store, and on this machine.
  std::string Url(const std::string& name) const;
  std::string Path(const std::string& name) const;

  // Removes what is of no use once there is a manifest; what the plan and the shards' sidecars say
  // stays, as in a folder on a disk.
  void RemoveIndexParts() const;
  // Removes all of it.
  void Remove() const;

 private:
  // Sizes of the objects in the store, and of those of its state, by name.
  struct Listing {
    std::map<std::string, uint64_t> results, state;
  };
  Listing List() const;
  void FetchShards(const Plan& plan, uint32_t task, uint32_t tasks, const Listing& listing) const;
  void Copy(const std::string& name) const;
  void Clear() const;

  const std::string folder_;
  const std::string url_;
};

}  // namespace recpack::pack
