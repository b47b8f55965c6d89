// An append to a data set in an object store: begins with what is there, and finds it unchanged at
// the end.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "recpack/base/descriptor.h"
#include "src/pack/store/shared_state.h"
#include "src/remote/store/object.h"

namespace recpack::pack {

// Thread-safe.
class StoreAppend {
 public:
  // Copies manifest, indexes and plans of earlier appends to the folder of `state` on this machine,
  // and forgets what that has of other ones. `results`: sizes of the objects in the data set's
  // "folder", by name. `state` outlives this. Throws Error: kNotFound if there is no data set;
  // kInvalidArgument if another process of this machine appends to it; kUnsupported if the store
  // tells no versions; kIo; kCorrupt.
  StoreAppend(const SharedState& state, const std::map<std::string, uint64_t>& results);

  // The manifest that was there at the beginning.
  const remote::Object& manifest() const noexcept { return manifest_; }

  // Writes a plan to the store, which gives this append the names in it. Throws Error
  // (kInvalidArgument) if the plan of another append is there.
  void PublishPlan(const std::string& path, const std::string& name);

  // Throws Error (kInvalidArgument) if the store has another manifest now, or another plan of this
  // append: its names may be others' by now.
  void CheckUnchanged() const;

  // Names of the shards of appends that this machine has begun, and not finished by the time at
  // which this was made.
  std::set<std::string> OwnShards() const;

 private:
  StoreAppend(const SharedState& state, const std::map<std::string, uint64_t>& results,
              const Descriptor& lock);
  std::string OwnMark(const std::string& plan) const;

  const SharedState& state_;
  const remote::Object manifest_;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> plans_;  // of unfinished appends: versions, by name
};

}  // namespace recpack::pack
