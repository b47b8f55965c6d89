// An append to a data set in an object store: begins with what is there, and finds it unchanged at
// the end.
#pragma once

#include <map>
#include <string>

#include "src/pack/store/shared_state.h"
#include "src/remote/store/object.h"

namespace recpack::pack {

// Immutable and thread-safe.
class StoreAppend {
 public:
  // Copies manifest, indexes and plans of earlier appends to the folder of `state` on this machine,
  // and forgets what that has of other ones. `results`: sizes of the objects in the data set's
  // "folder", by name. Throws Error: kNotFound if there is no data set; kInvalidArgument if another
  // process of this machine appends to it; kIo; kCorrupt.
  StoreAppend(const SharedState& state, const std::map<std::string, uint64_t>& results);

  // The manifest that was there at the beginning.
  const remote::Object& manifest() const noexcept { return manifest_; }

  // Throws Error (kInvalidArgument) if the store has another manifest now.
  void CheckUnchanged() const;

 private:
  const remote::Object manifest_;
};

}  // namespace recpack::pack
