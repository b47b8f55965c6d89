// State of a pack into an object store by several tasks, which may run on different machines: the
// plan, and what each made of its shards, lies in ".recpack/" of the store, too.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "src/pack/plan/plan.h"

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

  // Copies a file at `path` to the state in the store. The plan is written once: throws Error
  // (kInvalidArgument) if another job's is there.
  void Publish(const std::string& path, const std::string& name) const;

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

  std::string StateUrl(const std::string& name) const;
  std::string StatePath(const std::string& name) const;

  const std::string folder_;
  const std::string url_;
};

}  // namespace recpack::pack
